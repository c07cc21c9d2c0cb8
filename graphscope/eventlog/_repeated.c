/* The combinations of repeated fields that rows have, looked up by a hash of their bytes. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

enum { ROWS, MASK, FACTORS, KNOWN, PLACES, ATTRS, NUMBERS, ENTRIES, ARGUMENTS };
enum { WORDS = 4 };

/* What is at hand of an argument; the last ones are written, and one is a field of rows. */
static int take(PyObject *const *arguments, Py_buffer *buffers)
{
    for (int each = 0; each < ARGUMENTS; each++)
        if (PyObject_GetBuffer(arguments[each], buffers + each,
                               each >= NUMBERS ? PyBUF_WRITABLE : each == ATTRS ? PyBUF_STRIDES : PyBUF_SIMPLE)) {
            while (each--)
                PyBuffer_Release(buffers + each);
            return -1;
        }
    return 0;
}

/* Write a number as wide as an element is; of one that is too large the lower bits. */
static inline void put(char *numbers, Py_ssize_t width, Py_ssize_t at, uint32_t number)
{
    if (width == 1)
        ((uint8_t *)numbers)[at] = (uint8_t)number;
    else if (width == 2)
        ((uint16_t *)numbers)[at] = (uint16_t)number;
    else
        ((uint32_t *)numbers)[at] = number;
}

static PyObject *look_up(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    Py_buffer buffers[ARGUMENTS];
    if (count != ARGUMENTS) {
        PyErr_SetString(PyExc_TypeError, "look_up() takes rows, a mask, factors, words, places, attrs, numbers and entries");
        return NULL;
    }
    if (take(arguments, buffers))
        return NULL;
    const char *row = buffers[ROWS].buf, *attrs = buffers[ATTRS].buf;
    const uint64_t *mask = buffers[MASK].buf, *factors = buffers[FACTORS].buf, *known = buffers[KNOWN].buf;
    const uint32_t *places = buffers[PLACES].buf;
    char *numbers = buffers[NUMBERS].buf, *entries = buffers[ENTRIES].buf;
    const Py_ssize_t width = buffers[NUMBERS].itemsize, width_of_entries = buffers[ENTRIES].itemsize;
    const Py_ssize_t rows = buffers[NUMBERS].len / width, size = rows ? buffers[ROWS].len / rows : 0;
    const Py_ssize_t combinations = buffers[KNOWN].len / sizeof *known / WORDS;
    const int shift = 64 - __builtin_ctzll(buffers[PLACES].len / sizeof *places);
    Py_ssize_t unknown = 0;
    uint32_t most = 0;
    Py_BEGIN_ALLOW_THREADS /* the buffers are held */
    for (Py_ssize_t at = 0; at < rows; at++, row += size, attrs += size) {
        uint64_t words[WORDS], mixed = 0, differ = 0;
        memcpy(words, row, sizeof words);
        for (int word = 0; word < WORDS; word++) {
            words[word] &= mask[word];
            mixed ^= words[word] * factors[word];
        }
        const uint32_t number = places[mixed >> shift];
        for (int word = 0; word < WORDS; word++)
            differ |= words[word] ^ known[word * combinations + number];
        uint32_t entry;
        memcpy(&entry, attrs, sizeof entry);
        most = entry > most ? entry : most;
        unknown += differ || !number;
        put(numbers, width, at, differ ? 0 : number);
        put(entries, width_of_entries, at, entry);
    }
    Py_END_ALLOW_THREADS
    for (int each = 0; each < ARGUMENTS; each++)
        PyBuffer_Release(buffers + each);
    return Py_BuildValue("nI", unknown, most);
}

static PyMethodDef methods[] = {
    {"look_up", (PyCFunction)(void (*)(void))look_up, METH_FASTCALL, "Write the number of each row's combination; how many are unknown."},
    {NULL}};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_repeated", "Combinations of fields.", -1, methods};

PyMODINIT_FUNC PyInit__repeated(void) { return PyModule_Create(&definition); }
