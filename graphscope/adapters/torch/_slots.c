/* The row of a node with several slots, compiled: where it is known what the slots are, and the tensors are so. */
#include "_adapter.h"

enum { MOST_TOLD = 64 };

/* What a slot holds of a tensor (None: it is not there), or what the row is promised of it; 0 where that takes more than a
 * look. */
static int slotted(PyObject *object, PyObject *tensor, Slotted *slot, PyObject **value, void **gathered, Ahead *ahead,
                   int *promised)
{
    Site *site = (Site *)object;
    Look seen;
    if (!PyObject_TypeCheck(object, site_type) || site->template == NULL)
        return 0;
    slot->template = site->template;
    if (tensor == Py_None)
        return !site->wanted;
    if (!look(tensor, &seen) || fits_seen(site, tensor, &seen) != 1)
        return 0;
    if ((*value = value_of(site, tensor, &seen, gathered)) == NULL)
        return *promised = !site->ordered && !site->summary && can_promise(site, tensor, &seen, 0, ahead);
    if (PyLong_CheckExact(*value))
        slot->data = PyLong_AsVoidPtr(*value);
    return *value == Py_None || slot->data != NULL;
}

int64_t append_in_slots(PyObject *append, PyObject *template, PyObject *sites, PyObject *const *tensors,
                        const Moment *moment)
{
    int count = (int)PyTuple_GET_SIZE(sites), fit = count <= MOST_SLOTS;
    Slotted slots[MOST_SLOTS];
    PyObject *values[MOST_SLOTS];
    void *gathered[MOST_SLOTS];
    Ahead ahead[MOST_SLOTS];
    int promised[MOST_SLOTS];
    int met = 0;
    for (; met < count && fit; met++) {
        slots[met] = (Slotted){0};
        values[met] = gathered[met] = NULL;
        promised[met] = 0;
        fit = slotted(PyTuple_GET_ITEM(sites, met), tensors[met], slots + met, values + met, gathered + met,
                      ahead + met, promised + met);
    }
    put_off();
    int64_t row = fit ? appending->slots(append, template, slots, count, moment) : -1;
    for (int slot = 0; slot < met; slot++) {
        if (promised[slot])
            promise(ahead + slot, row);
        Py_XDECREF(values[slot]);
        free(gathered[slot]);
    }
    return row;
}

/* append_slots(append, template, sites, tensors, rows, time, duration, forward): the row, or None where it takes more. */
static PyObject *append_slots(PyObject *module, PyObject *const *args, Py_ssize_t given)
{
    if (given != 8 || appending == NULL || !Py_IS_TYPE(args[0], appending->appender) || !PyTuple_CheckExact(args[2]) ||
        !PyList_CheckExact(args[3]) || !PyList_CheckExact(args[4]))
        Py_RETURN_NONE;
    PyObject *sites = args[2], *tensors = args[3], *rows = args[4];
    int told = (int)PyList_GET_SIZE(rows);
    if (PyList_GET_SIZE(tensors) != PyTuple_GET_SIZE(sites) || told > MOST_TOLD)
        Py_RETURN_NONE;
    int64_t inputs[MOST_TOLD];
    for (int place = 0; place < told; place++)
        inputs[place] = PyLong_AsLongLong(PyList_GET_ITEM(rows, place));
    Moment moment = {PyLong_AsLongLong(args[5]), PyLong_AsLongLong(args[6]), PyLong_AsLongLong(args[7]), inputs, told, -1, 0};
    if (PyErr_Occurred())
        return NULL;
    ask_again();
    int64_t row = append_in_slots(args[0], args[1], sites, PySequence_Fast_ITEMS(tensors), &moment);
    if (row < 0)
        Py_RETURN_NONE;
    return PyLong_FromLongLong(row);
}

static PyMethodDef functions[] = {
    {"append_slots", (PyCFunction)(void (*)(void))append_slots, METH_FASTCALL, "Append a row with several slots."},
    {NULL}};

int add_slots(PyObject *module) { return PyModule_AddFunctions(module, functions); }
