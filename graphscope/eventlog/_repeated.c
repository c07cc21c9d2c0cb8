/* The combinations of repeated fields that rows have, looked up by a hash of their bytes. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

enum { WORDS = 4, ARGUMENTS = 6 };

/* What is at hand of an argument; the last one is written. */
static int take(PyObject *const *arguments, Py_buffer *buffers)
{
    for (int each = 0; each < ARGUMENTS; each++)
        if (PyObject_GetBuffer(arguments[each], buffers + each, each == ARGUMENTS - 1 ? PyBUF_WRITABLE : PyBUF_SIMPLE)) {
            while (each--)
                PyBuffer_Release(buffers + each);
            return -1;
        }
    return 0;
}

static PyObject *look_up(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    Py_buffer buffers[ARGUMENTS];
    if (count != ARGUMENTS) {
        PyErr_SetString(PyExc_TypeError, "look_up() takes rows, a mask, factors, words, places and numbers");
        return NULL;
    }
    if (take(arguments, buffers))
        return NULL;
    const char *row = buffers[0].buf;
    const uint64_t *mask = buffers[1].buf, *factors = buffers[2].buf, *known = buffers[3].buf;
    const uint32_t *places = buffers[4].buf;
    uint32_t *numbers = buffers[5].buf;
    const Py_ssize_t rows = buffers[5].len / sizeof *numbers, size = rows ? buffers[0].len / rows : 0;
    const Py_ssize_t combinations = buffers[3].len / sizeof *known / WORDS;
    const int shift = 64 - __builtin_ctzll(buffers[4].len / sizeof *places);
    for (Py_ssize_t at = 0; at < rows; at++, row += size) {
        uint64_t words[WORDS], mixed = 0, differ = 0;
        memcpy(words, row, sizeof words);
        for (int word = 0; word < WORDS; word++) {
            words[word] &= mask[word];
            mixed ^= words[word] * factors[word];
        }
        const uint32_t number = places[mixed >> shift];
        for (int word = 0; word < WORDS; word++)
            differ |= words[word] ^ known[word * combinations + number];
        numbers[at] = differ ? 0 : number;
    }
    for (int each = 0; each < ARGUMENTS; each++)
        PyBuffer_Release(buffers + each);
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"look_up", (PyCFunction)(void (*)(void))look_up, METH_FASTCALL, "Write the number of each row's combination."},
    {NULL}};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_repeated", "Combinations of fields.", -1, methods};

PyMODINIT_FUNC PyInit__repeated(void) { return PyModule_Create(&definition); }
