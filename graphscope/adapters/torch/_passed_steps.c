/* Training steps that are left out and that nobody looks at: what of each goes into the series all the same.
 *
 * Little of what a step needs is in the caches when it ends, so that as little as can be is looked at.
 */
#include "_adapter.h"
#include "../../eventlog/_halves.h"

#include <math.h>

/* A row of the series: `step_series.SERIES`. */
#pragma pack(push, 1)
typedef struct {
    int64_t step;
    double time, loss, rate;
    uint8_t has_loss;
} Row;
#pragma pack(pop)

static Slot met;
static PyObject *param_groups, *lr, *memory, *passed;

enum { MOST_OTHERS = 32 }; /* as in `sampling` */

/* Read the number that lies in a tensor of one, in memory of the processor; 0, without an error, of any other. */
static int read_number(PyObject *tensor, double *number)
{
    Look seen;
    if (!look(tensor, &seen) || seen.device != ON_CPU || seen.lanes != 1 ||
        (seen.code != FLOATING && seen.code != BRAIN_FLOATING) || !is_as_it_lies(tensor, &seen))
        return 0;
    for (int axis = 0; axis < seen.axes; axis++)
        if (seen.shape[axis] != 1)
            return 0;
    const char *place = first_element(tensor, &seen);
    if (place == NULL || (seen.bits != 16 && seen.bits != 32 && seen.bits != 64))
        return 0;
    if (seen.bits == 16)
        *number = widened(*(const uint16_t *)place, seen.code == BRAIN_FLOATING ? 8 : 5);
    else
        *number = seen.bits == 32 ? *(const float *)place : *(const double *)place;
    return 1;
}

PyObject *number_in(PyObject *tensor)
{
    double number;
    return read_number(tensor, &number) ? PyFloat_FromDouble(number) : NULL;
}

/* What there is of a bytearray of so many bytes, which is never resized; NULL with an error set. */
static char *bytes_in(PyObject *object, Py_ssize_t size)
{
    if (PyByteArray_CheckExact(object) && PyByteArray_GET_SIZE(object) >= size)
        return PyByteArray_AS_STRING(object);
    PyErr_SetString(PyExc_TypeError, "the numbers of steps are no bytes, or too few");
    return NULL;
}

int find_steps(PyObject *sampling, Steps *steps)
{
    steps->sampling = Py_NewRef(sampling);
    steps->memory = PyObject_GetAttr(sampling, memory);
    steps->passed = steps->memory == NULL ? NULL : PyObject_GetAttr(sampling, passed);
    if (steps->passed == NULL)
        return -1;
    steps->counts = (Counts *)bytes_in(steps->memory, sizeof *steps->counts);
    steps->rows = bytes_in(steps->passed, sizeof(Row));
    steps->room = PyByteArray_GET_SIZE(steps->passed) / (Py_ssize_t)sizeof(Row);
    return steps->counts == NULL || steps->rows == NULL ? -1 : 0;
}

int note_loss(const Steps *steps, PyObject *roots)
{
    Counts *counts = steps->counts;
    double found;
    if (!PyTuple_Check(roots) || PyTuple_GET_SIZE(roots) != 1 || !read_number(PyTuple_GET_ITEM(roots, 0), &found))
        return 0;
    counts->newest = counts->scaled ? found / scale_of(steps->sampling, PyTuple_GET_ITEM(roots, 0)) : found;
    if (counts->has_loss && !isfinite(counts->loss)) /* gradients of this step are spoilt already */
        return 1;
    counts->loss = counts->newest;
    counts->has_loss = 1;
    return 1;
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

/* Put a step with a known loss and rate among those that somebody writes into the series later. */
static void hold(const Steps *steps, PyObject *optimizer)
{
    Counts *counts = steps->counts;
    double rate = counts->since > 0 && counts->held < steps->room ? rate_of(optimizer) : NAN;
    if (isnan(rate))
        return;
    Row row = {counts->ended + 1, (double)(now() - counts->since) / 1e9, counts->loss, rate, 1};
    memcpy(steps->rows + counts->held++ * sizeof row, &row, sizeof row);
}

/* Pass over the step of an optimizer that ends no training step; 0 where it may end one, -1 for an error. */
static int pass_over_other(const Steps *steps, PyObject *optimizer)
{
    Counts *counts = steps->counts;
    PyObject *known = get(steps->sampling, &met), *key = known == NULL ? NULL : PyLong_FromVoidPtr(optimizer);
    PyObject *reference = key == NULL || !PyDict_Check(known) ? NULL : PyDict_GetItemWithError(known, key);
    int is_known = PyErr_Occurred() ? -1 : reference == Py_None || is_reference_to(reference, optimizer);
    Py_XDECREF(known);
    Py_XDECREF(key);
    if (is_known < 0 || PyErr_Occurred())
        return -1;
    if (!is_known || counts->others >= MOST_OTHERS)
        return 0;
    counts->others++; /* the loss stays: the optimizer that ends the step may have taken it as well */
    return 1;
}

int pass_over(const Steps *steps, PyObject *optimizer)
{
    Counts *counts = steps->counts;
    if (counts->idle <= 1 || counts->ended < counts->until) /* a signal may have come while `idle` was counted */
        return 0;
    if (counts->has_loss && (isfinite(counts->loss) != 0) != counts->is_finite) {
        counts->idle = 0;
        return 0;
    }
    if (counts->last != (int64_t)(uintptr_t)optimizer)
        return pass_over_other(steps, optimizer);
    counts->others = 0;
    if (counts->has_loss)
        hold(steps, optimizer);
    counts->has_loss = 0; /* also of a step that has no place among them */
    counts->idle--;
    counts->ended++;
    return 1;
}

int add_passed_steps(PyObject *module)
{
    struct {
        PyObject **word;
        const char *name;
    } words[] = {{&met.name, "met"}, {&param_groups, "param_groups"}, {&lr, "lr"}, {&memory, "memory"}, {&passed, "passed"}};
    for (size_t each = 0; each < sizeof words / sizeof *words; each++)
        if ((*words[each].word = PyUnicode_InternFromString(words[each].name)) == NULL)
            return -1;
    return 0;
}
