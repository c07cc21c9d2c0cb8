/* How tensors are looked at: by the table of functions that torch offers to other libraries, or by its own getters. */
#include "_adapter.h"

typedef struct Exchange {
    uint32_t major, minor;
    struct Exchange *before;
    void *allocate, *managed_from_object, *managed_to_object;
    int (*from_object)(void *tensor, void *seen);
    void *stream;
} Exchange;

static const Exchange *exchange;
static PyObject *ordinary;     /* the classes whose tensors have their elements where they say */
static PyObject *measure;      /* graphscope.eventlog._measure.measure, or None */
static int complex_was_seen;   /* only then tensors may stand for the negative of what lies there */

static PyObject **const questions[] = {&str__version, &str__base, &str_grad_fn, &str_requires_grad};
static PyObject *answers[QUESTIONS]; /* a descriptor, or NULL */

int is_ordinary(PyObject *tensor)
{
    PyObject *kind = (PyObject *)Py_TYPE(tensor);
    return ordinary != NULL && (kind == PyTuple_GET_ITEM(ordinary, 0) || kind == PyTuple_GET_ITEM(ordinary, 1));
}

PyObject *ask(PyObject *tensor, int question)
{
    PyObject *answer = answers[question];
    if (answer == NULL || !is_ordinary(tensor))
        return PyObject_GetAttr(tensor, *questions[question]);
    const PyGetSetDef *found = ((PyGetSetDescrObject *)answer)->d_getset;
    return found->get(tensor, found->closure);
}

int64_t version_of(PyObject *tensor)
{
    PyObject *found = ask(tensor, VERSION);
    int64_t version = found == NULL ? -1 : PyLong_AsLongLong(found);
    Py_XDECREF(found);
    return version;
}

int look(PyObject *tensor, Look *seen)
{
    if (exchange == NULL || !is_ordinary(tensor))
        return 0;
    if (exchange->from_object(tensor, seen) != 0) {
        PyErr_Clear();
        return 0;
    }
    complex_was_seen |= seen->code == COMPLEX;
    return 1;
}

/* Whether the elements lie in one row, in C order. */
static int in_one_row(const Look *seen)
{
    int64_t expected = 1;
    if (seen->strides == NULL)
        return 1;
    for (int axis = seen->axes - 1; axis >= 0; axis--) {
        if (seen->shape[axis] != 1 && seen->strides[axis] != expected)
            return 0;
        expected *= seen->shape[axis];
    }
    return 1;
}

/* Copy elements that lie apart into one row. */
static char *gather(char *to, const char *from, const Look *seen, int axis, int64_t size)
{
    if (axis == seen->axes) {
        memcpy(to, from, size);
        return to + size;
    }
    if (axis == seen->axes - 1 && size == 4) { /* by far the most frequent */
        int32_t *each = (int32_t *)to;
        for (int64_t place = 0; place < seen->shape[axis]; place++)
            *each++ = *(const int32_t *)(from + place * seen->strides[axis] * 4);
        return (char *)each;
    }
    for (int64_t place = 0; place < seen->shape[axis]; place++)
        to = gather(to, from + place * seen->strides[axis] * size, seen, axis + 1, size);
    return to;
}

/* Whether a tensor stands for the elements that lie there, and not for their conjugates or negatives. */
static int is_as_it_lies(PyObject *tensor, const Look *seen)
{
    PyObject *guard = ask_torch();
    if (guard == NULL)
        return 0;
    int lies = (seen->code != COMPLEX || is_said(tensor, str_is_conj) == 0) && is_said(tensor, str_is_neg) == 0;
    done_asking(guard);
    return lies;
}

PyObject *value_of(const Site *site, PyObject *tensor, const Look *seen, void **gathered)
{
    if (!site->wanted)
        return Py_NewRef(Py_None);
    if (!site->direct || seen->device != ON_CPU || seen->data == NULL || seen->axes > MOST_AXES ||
        (site->summary && measure == Py_None))
        return NULL;
    int64_t nbytes = bytes_of(seen), size = seen->bits * seen->lanes / 8;
    if (nbytes == 0 || nbytes != site->nbytes)
        return NULL;
    if (complex_was_seen && !is_as_it_lies(tensor, seen)) {
        PyErr_Clear();
        return NULL;
    }
    char *address = (char *)seen->data + seen->offset;
    if (!in_one_row(seen)) {
        if (nbytes > MOST_GATHERED || size == 0 || (*gathered = malloc(nbytes)) == NULL)
            return NULL;
        gather(*gathered, address, seen, 0, size);
        address = *gathered;
    }
    PyObject *value = PyLong_FromVoidPtr(address);
    if (value != NULL && site->summary) {
        PyObject *record = PyObject_CallFunction(measure, "OLL", value, (long long)nbytes, (long long)site->floating);
        Py_SETREF(value, record);
    }
    if (value == NULL) {
        PyErr_Clear();
        free(*gathered);
        *gathered = NULL;
    }
    return value;
}

/* look_through(capsule or None, measure or None, classes): how tensors are looked at, and their statistics taken. */
static PyObject *look_through(PyObject *module, PyObject *args)
{
    PyObject *capsule, *statistics, *classes;
    if (!PyArg_ParseTuple(args, "OOO!", &capsule, &statistics, &PyTuple_Type, &classes))
        return NULL;
    if (PyTuple_GET_SIZE(classes) != 2) {
        PyErr_SetString(PyExc_ValueError, "two classes have ordinary tensors");
        return NULL;
    }
    const Exchange *table = NULL;
    if (PyCapsule_CheckExact(capsule)) {
        table = PyCapsule_GetPointer(capsule, "dlpack_exchange_api");
        while (table != NULL && table->major != 1)
            table = table->before;
        if (table != NULL && table->from_object == NULL)
            table = NULL;
        PyErr_Clear();
    }
    exchange = table;
    Py_XSETREF(ordinary, Py_NewRef(classes));
    for (int question = 0; question < QUESTIONS; question++) {
        PyObject *answer = PyObject_GetAttr(PyTuple_GET_ITEM(classes, 0), *questions[question]);
        if (answer != NULL && !Py_IS_TYPE(answer, &PyGetSetDescr_Type))
            Py_CLEAR(answer);
        PyErr_Clear();
        Py_XSETREF(answers[question], answer);
    }
    Py_XSETREF(measure, Py_NewRef(statistics));
    return PyBool_FromLong(exchange != NULL);
}

static PyMethodDef functions[] = {{"look_through", look_through, METH_VARARGS, "How tensors are to be looked at."},
                                  {NULL}};

int add_looking(PyObject *module)
{
    measure = Py_NewRef(Py_None);
    return PyModule_AddFunctions(module, functions);
}
