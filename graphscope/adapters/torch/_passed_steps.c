/* Training steps that are left out and that nobody looks at: what of each goes into the series all the same.
 *
 * Python would need for it what has left the caches since the last step.
 */
#include "_adapter.h"

#include <math.h>

/* A row of the series: `step_series.SERIES`. */
#pragma pack(push, 1)
typedef struct {
    int64_t step;
    double time, loss, rate;
    uint8_t has_loss;
} Row;
#pragma pack(pop)

/* Of `Sampling`. */
static Slot ended, held, idle, is_finite, last, loss, met, others, passed, since, until;
static PyObject *param_groups, *lr;

enum { MOST_OTHERS = 32 }; /* as in `sampling` */

PyObject *number_in(PyObject *tensor)
{
    Look seen;
    if (!look(tensor, &seen) || seen.device != ON_CPU || seen.lanes != 1 || seen.code != FLOATING ||
        !is_as_it_lies(tensor, &seen))
        return NULL;
    for (int axis = 0; axis < seen.axes; axis++)
        if (seen.shape[axis] != 1)
            return NULL;
    const char *place = first_element(tensor, &seen);
    if (place == NULL || (seen.bits != 32 && seen.bits != 64))
        return NULL;
    return PyFloat_FromDouble(seen.bits == 32 ? *(const float *)place : *(const double *)place);
}

int note_loss(PyObject *sampling, PyObject *roots)
{
    if (!PyTuple_Check(roots) || PyTuple_GET_SIZE(roots) != 1)
        return 0;
    PyObject *found = number_in(PyTuple_GET_ITEM(roots, 0));
    if (found == NULL)
        return 0;
    double scale = scale_of(sampling, PyTuple_GET_ITEM(roots, 0));
    if (scale != 1)
        Py_SETREF(found, PyFloat_FromDouble(PyFloat_AS_DOUBLE(found) / scale));
    if (found == NULL)
        return -1;
    int failed = set(sampling, &loss, found);
    Py_DECREF(found);
    return failed < 0 ? -1 : 1;
}

/* The learning rate of an optimizer's first group; NaN where it is no plain number. */
static double rate_of(PyObject *optimizer)
{
    PyObject *groups = PyObject_GetAttr(optimizer, param_groups), *rate = NULL;
    if (groups != NULL && PyList_Check(groups) && PyList_GET_SIZE(groups) > 0 &&
        PyDict_Check(PyList_GET_ITEM(groups, 0)))
        rate = PyDict_GetItemWithError(PyList_GET_ITEM(groups, 0), lr);
    double found = rate != NULL && (PyFloat_Check(rate) || PyLong_Check(rate)) ? PyFloat_AsDouble(rate) : NAN;
    Py_XDECREF(groups);
    if (PyErr_Occurred()) {
        PyErr_Clear();
        return NAN;
    }
    return found;
}

/* Put a step with a known loss and rate among those that somebody writes into the series later; -1 for an error. */
static int hold(PyObject *sampling, PyObject *optimizer, int64_t step, double value)
{
    int64_t count = number(sampling, &held), first = number(sampling, &since);
    if (PyErr_Occurred())
        return -1;
    double rate = rate_of(optimizer);
    PyObject *rows = get(sampling, &passed);
    if (rows == NULL)
        return -1;
    int failed = 0;
    if (first > 0 && !isnan(rate) && count < PyByteArray_GET_SIZE(rows) / (Py_ssize_t)sizeof(Row)) {
        Row row = {step, (double)(now() - first) / 1e9, value, rate, 1};
        memcpy(PyByteArray_AS_STRING(rows) + count * sizeof row, &row, sizeof row);
        failed = set_number(sampling, &held, count + 1) < 0 || set(sampling, &loss, Py_None) < 0;
    }
    Py_DECREF(rows);
    return failed ? -1 : 0;
}

/* Pass over the step of an optimizer that ends no training step; 0 where it may end one, -1 for an error. */
static int pass_over_other(PyObject *sampling, PyObject *key)
{
    int64_t count = number(sampling, &others);
    PyObject *known = get(sampling, &met);
    int is_known = known == NULL || !PyAnySet_Check(known) ? -1 : PySet_Contains(known, key);
    Py_XDECREF(known);
    if (is_known < 0 || PyErr_Occurred())
        return -1;
    if (!is_known || count >= MOST_OTHERS)
        return 0;
    return set(sampling, &loss, Py_None) < 0 || set_number(sampling, &others, count + 1) < 0 ? -1 : 1;
}

int pass_over(PyObject *sampling, PyObject *optimizer)
{
    int64_t left = number(sampling, &idle), count = number(sampling, &ended), stop = number(sampling, &until);
    if (PyErr_Occurred())
        return -1;
    if (left <= 1 || count < stop) /* a signal may have come while `idle` was counted */
        return 0;
    PyObject *found = get(sampling, &loss);
    if (found == NULL)
        return -1;
    int is_known = PyFloat_CheckExact(found);
    double value = is_known ? PyFloat_AS_DOUBLE(found) : 0;
    Py_DECREF(found);
    if (is_known && (isfinite(value) != 0) != (is(sampling, &is_finite, Py_True) == 1))
        return set_number(sampling, &idle, 0);
    if (number(sampling, &last) != (int64_t)(uintptr_t)optimizer) {
        PyObject *key = PyErr_Occurred() ? NULL : PyLong_FromVoidPtr(optimizer);
        int is_passed = key == NULL ? -1 : pass_over_other(sampling, key);
        Py_XDECREF(key);
        return is_passed;
    }
    if (set_number(sampling, &others, 0) < 0)
        return -1;
    if (is_known && hold(sampling, optimizer, count + 1, value) < 0)
        return -1;
    return set_number(sampling, &idle, left - 1) < 0 || set_number(sampling, &ended, count + 1) < 0 ? -1 : 1;
}

int is_looked_at(PyObject *sampling) { return number(sampling, &idle) <= 1; }

int add_passed_steps(PyObject *module)
{
    struct {
        Slot *slot;
        const char *name;
    } slots[] = {{&ended, "ended"},   {&held, "held"},   {&idle, "idle"}, {&is_finite, "is_finite"},
                 {&last, "last"},     {&loss, "loss"},   {&met, "met"},   {&others, "others"},
                 {&passed, "passed"}, {&since, "since"}, {&until, "until"}};
    for (size_t each = 0; each < sizeof slots / sizeof *slots; each++)
        if ((slots[each].slot->name = PyUnicode_InternFromString(slots[each].name)) == NULL)
            return -1;
    param_groups = PyUnicode_InternFromString("param_groups");
    lr = PyUnicode_InternFromString("lr");
    return param_groups == NULL || lr == NULL ? -1 : 0;
}
