/* The rows of what a step of an optimizer makes of parameters, compiled: see `optimizers.Optimizers`. */
#include "_adapter.h"

enum { MOST_TOLD = 64 };

static PyObject *keys[2][2]; /* of `More.updating`: whether the row of the gradient is told, and whether it is measured */

/* Everything that the rows of one group of parameters share. */
typedef struct {
    Table *table;
    PyObject *writer, *append, *settings, *measure;
    int64_t low, base, duration; /* a row may begin a segment, which changes `low` */
    int64_t varying[MOST_TOLD];
    int count;
} Told;

/* Copy the numbers of a sequence; their count, or -1 where there is no room, or with an error set. */
static int copy_numbers(int64_t *numbers, int room, PyObject *sequence)
{
    PyObject *given = PySequence_Fast(sequence, "numbers are wanted");
    if (given == NULL)
        return -1;
    Py_ssize_t count = PySequence_Fast_GET_SIZE(given);
    for (Py_ssize_t place = 0; count <= room && place < count; place++)
        numbers[place] = PyLong_AsLongLong(PySequence_Fast_GET_ITEM(given, place));
    Py_DECREF(given);
    return count <= room && !PyErr_Occurred() ? (int)count : -1;
}

/* What is known of a tensor, borrowed, or NULL. */
static Known *known_of(const Table *table, PyObject *tensor)
{
    Known *found = known_at(table, tensor);
    return found != NULL && referent(found->reference) == tensor ? found : NULL;
}

/* The row of a gradient: what was last added to it, or what the program has made of it since. */
static int64_t origin_of(const Told *told, PyObject *gradient, int64_t accumulated)
{
    Known *known = known_of(told->table, gradient);
    return known == NULL || known->row < told->low || (known->row & ROW_MASK) < accumulated ? accumulated : known->row;
}

/* Note that a row is a new version of a parameter: see `known_tensors.wrote`. */
static int note_write(Known *known, PyObject *parameter, int64_t row, int64_t versions)
{
    known->row = row;
    known->counter = version_of(parameter);
    if (known->counter < 0) {
        if (is_interrupted())
            return -1;
        PyErr_Clear();
        known->counter = 0;
    }
    if (set_number(known->more, &slot_versions, versions) < 0)
        return -1;
    if (known->group == NULL || known->group == Py_None)
        return 0;
    known->seen = number(known->group, &slot_turn) + 1;
    return PyErr_Occurred() || set_number(known->group, &slot_turn, known->seen) < 0 ||
                   set_number(known->group, &slot_row, row) < 0
               ? -1
               : 0;
}

/* The site that the rows of a parameter are written by, borrowed; NULL where Python has to find it. */
static Site *site_of(const Told *told, Known *known, int has_gradient, int is_measured)
{
    PyObject *updating = get(known->more, &slot_updating), *update = NULL, *form = NULL;
    if (updating != NULL && PyDict_Check(updating))
        update = PyDict_GetItemWithError(updating, keys[has_gradient][is_measured]);
    if (update != NULL && PyTuple_Check(update) && PyTuple_GET_SIZE(update) == 2 &&
        PyTuple_GET_ITEM(update, 0) == told->settings && PyObject_TypeCheck(PyTuple_GET_ITEM(update, 1), site_type))
        form = PyTuple_GET_ITEM(update, 1);
    Py_XDECREF(updating); /* the parameter has it */
    return (Site *)form;
}

/* The inputs of a row, and the numbers behind them: their count; 0 where that takes more, -1 with an error set. */
static int rows_of(const Told *told, Known *known, PyObject *parameter, PyObject *gradient, int64_t *rows,
                   int *has_gradient, int *is_measured)
{
    int64_t origin = origin_of(told, gradient, number(known->more, &slot_accumulated));
    int count = 0;
    if (PyErr_Occurred())
        return -1;
    *has_gradient = origin > 0;
    rows[count++] = known->row;
    if (*has_gradient)
        rows[count++] = origin;
    memcpy(rows + count, told->varying, told->count * sizeof *rows);
    count += told->count;
    if (told->measure == Py_None)
        return count;
    PyObject *numbers = PyObject_CallFunctionObjArgs(told->measure, parameter, gradient, NULL);
    int measures = numbers == NULL ? -1 : copy_numbers(rows + count, MOST_TOLD - count, numbers);
    Py_XDECREF(numbers);
    if (measures < 0)
        return PyErr_Occurred() ? -1 : 0;
    *is_measured = measures > 0;
    return count + measures;
}

/* Append the row of a parameter that is known; 0 where that takes more, -1 with an error set. */
static int64_t append_update(const Told *told, Known *known, PyObject *parameter, PyObject *gradient)
{
    int64_t rows[MOST_TOLD], row = 0;
    int has_gradient = 0, is_measured = 0;
    int64_t first = number(known->more, &slot_first), versions = number(known->more, &slot_versions) + 1;
    int count = PyErr_Occurred() ? -1 : rows_of(told, known, parameter, gradient, rows, &has_gradient, &is_measured);
    if (count <= 0)
        return count;
    Site *site = site_of(told, known, has_gradient, is_measured);
    Look seen;
    void *gathered = NULL;
    if (site == NULL || !look(parameter, &seen) || fits_seen(site, parameter, &seen) != 1)
        return 0;
    Py_INCREF(site);
    PyObject *value = value_of(site, parameter, &seen, &gathered);
    Ahead ahead;
    if (value != NULL || can_promise(site, parameter, &seen, 1, &ahead)) {
        Moment moment = {now(), told->duration, 0, rows, count, first >= told->base ? first : -1, versions};
        row = value != NULL ? appending->append(told->append, site->template, value, &moment)
                            : appending->append(told->append, site->awaiting, Py_None, &moment);
        if (value == NULL)
            promise(&ahead, row);
        if (row < 0 || note_write(known, parameter, row, versions) < 0)
            row = -1;
    }
    free(gathered);
    Py_XDECREF(value);
    Py_DECREF(site);
    return row;
}

/* The same of a parameter. */
static int64_t updated(const Told *told, PyObject *parameter, PyObject *gradient)
{
    Known *known = known_of(told->table, parameter);
    if (known == NULL || known->row < told->low || known->more == NULL || known->more == Py_None)
        return 0;
    Py_INCREF(known); /* what is called may put another one in its place */
    int64_t row = append_update(told, known, parameter, gradient);
    Py_DECREF(known);
    return row;
}

/* append_updates(table, writer, append, settings, varying, measure, duration, pairs, start): the rows of parameters with
 * their gradients, from one of the pairs on, until one takes more than a look: the place of that, or the end. */
static PyObject *append_updates(PyObject *module, PyObject *const *args, Py_ssize_t given)
{
    if (given != 9 || !PyObject_TypeCheck(args[0], table_type) || !PyList_CheckExact(args[7])) {
        PyErr_SetString(PyExc_TypeError,
                        "append_updates(table, writer, append, settings, varying, measure, duration, pairs, start)");
        return NULL;
    }
    ask_again();
    Told told = {(Table *)args[0], args[1], args[2], args[3], args[5]};
    Py_ssize_t place = PyLong_AsSsize_t(args[8]);
    told.duration = PyLong_AsLongLong(args[6]);
    told.base = number(args[1], &slot_base);
    int gate = is(args[1], &slot_gate, Py_None);
    if (PyErr_Occurred() || place < 0)
        return NULL;
    told.count = copy_numbers(told.varying, MOST_TOLD - 2, args[4]); /* in a row they stand behind two inputs */
    if (told.count < 0 && PyErr_Occurred())
        return NULL;
    int plainly = told.count >= 0 && gate == 1 && appending != NULL && Py_TYPE(told.append) == appending->appender;
    while (plainly && place < PyList_GET_SIZE(args[7])) {
        PyObject *pair = PyList_GET_ITEM(args[7], place);
        if (!PyTuple_CheckExact(pair) || PyTuple_GET_SIZE(pair) != 2)
            break;
        told.low = number(told.writer, &slot_low);
        if (told.low < 0 && PyErr_Occurred())
            return NULL;
        int64_t row = updated(&told, PyTuple_GET_ITEM(pair, 0), PyTuple_GET_ITEM(pair, 1));
        if (row < 0)
            return NULL;
        if (row == 0)
            break;
        place++;
    }
    put_off();
    return PyLong_FromSsize_t(place);
}

static PyMethodDef functions[] = {
    {"append_updates", (PyCFunction)(void (*)(void))append_updates, METH_FASTCALL, "Append what a step did."}, {NULL}};

int add_updates(PyObject *module)
{
    for (int place = 0; place < 4; place++)
        if ((keys[place / 2][place % 2] = PyTuple_Pack(2, place / 2 ? Py_True : Py_False, place % 2 ? Py_True : Py_False)) ==
            NULL)
            return -1;
    return PyModule_AddFunctions(module, functions);
}
