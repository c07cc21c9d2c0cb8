/* How tensors are looked at: by the table of functions that torch offers to other libraries, or by its own getters. */
#include "_adapter.h"

typedef struct Exchange {
    uint32_t major, minor;
    struct Exchange *before;
    void *allocate, *managed_from_object, *managed_to_object;
    int (*from_object)(void *tensor, void *seen);
    void *stream;
} Exchange;

enum { LEAST_REMEMBERED = 1 << 12 }; /* bytes: to look at fewer again is as quick as to ask whether they were written */

static const Exchange *exchange;
static PyObject *ordinary;     /* the classes whose tensors have their elements where they say */
static PyObject *measure;      /* graphscope.eventlog._measure.measure, or None */
static int lazy_met;           /* whether tensors may not have the elements that lie there: then each is asked */
static PyObject *storage_bytes; /* tells the size of a storage; NULL: no tensor may reach past the end of its own */

static PyObject **const questions[] = {&str__version, &str__base, &str_grad_fn, &str_requires_grad, &str_dtype,
                                       &str_shape, &str_is_cpu, &str_is_nested, &str_grad, &str_is_conj, &str_is_neg,
                                       &str_is_contiguous, &str__is_zerotensor, &str_data_ptr, &str_storage_offset,
                                       &str_untyped_storage};
static PyObject *answers[QUESTIONS]; /* a descriptor */

int is_ordinary(PyObject *tensor)
{
    PyObject *kind = (PyObject *)Py_TYPE(tensor);
    return ordinary != NULL && (kind == PyTuple_GET_ITEM(ordinary, 0) || kind == PyTuple_GET_ITEM(ordinary, 1));
}

PyObject *ask(PyObject *tensor, int question)
{
    PyObject *answer = answers[question];
    if (question >= IS_CONJ)
        return PyObject_CallOneArg(answer, tensor);
    if (!is_ordinary(tensor) && !PyObject_TypeCheck(tensor, PyDescr_TYPE(answer)))
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
    lazy_met |= seen->code == COMPLEX;
    return 1;
}

int is_in_one_row(const Look *seen)
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

int is_in_one_stretch(const Look *seen)
{
    int64_t expected = 1;
    if (seen->axes > MOST_AXES)
        return 0;
    for (uint32_t met = 0; met + 1 < 1u << seen->axes;) {
        int axis = 0;
        while (axis < seen->axes && (met >> axis & 1 || (seen->shape[axis] != 1 && seen->strides[axis] != expected)))
            axis++;
        if (axis == seen->axes)
            return 0;
        met |= 1u << axis;
        expected *= seen->shape[axis];
    }
    return 1;
}

/* Whether the elements can be read where they lie; only those that are kept have to be in C order. */
static int lies_readable(const Site *site, const Look *seen)
{
    return is_in_one_row(seen) || (!site->ordered && is_in_one_stretch(seen));
}

/* Copy elements that lie apart into one row. */
static char *gather(char *to, const char *from, const Look *seen, int axis, int64_t size)
{
    if (axis == seen->axes) {
        memcpy(to, from, size);
        return to + size;
    }
    if (axis == seen->axes - 1 && seen->strides[axis] == 1) { /* parts of rows, as `split` and `transpose` leave them */
        memcpy(to, from, seen->shape[axis] * size);
        return to + seen->shape[axis] * size;
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

int is_as_it_lies(PyObject *tensor, const Look *seen)
{
    if (!lazy_met)
        return 1;
    PyObject *guard = ask_torch();
    int lies = 0;
    if (guard != NULL) {
        lies = (seen->code != COMPLEX || is_answer(tensor, IS_CONJ, Py_False) == 1) &&
               is_answer(tensor, IS_NEG, Py_False) == 1 && is_answer(tensor, IS_ZEROS, Py_False) == 1;
        done_asking(guard);
    }
    PyErr_Clear();
    return lies;
}

Stretch stretch_of(const Site *site, PyObject *tensor, const Look *seen)
{
    Stretch found = {.nbytes = bytes_of(seen), .floating = site->floating, .calls = calls_made};
    if (!site->wanted || site->ordered || seen->device != ON_CPU || found.nbytes < LEAST_REMEMBERED ||
        !is_in_one_stretch(seen))
        return found;
    PyObject *guard = ask_torch(); /* a mode would count the question as a call of the program's */
    if (guard != NULL) {
        found.version = version_of(tensor);
        if (found.version >= 0)
            found.address = (const char *)seen->data + seen->offset;
        done_asking(guard);
    }
    PyErr_Clear();
    return found;
}

/* How many bytes behind the beginning of its storage a tensor lies; negative with an error set. */
static int64_t place_in_storage(PyObject *tensor, const Look *seen)
{
    PyObject *offset = ask(tensor, STORAGE_OFFSET);
    int64_t place = offset == NULL ? -1 : PyLong_AsLongLong(offset) * (seen->bits * seen->lanes / 8);
    Py_XDECREF(offset);
    return place;
}

/* How many bytes the storage of a tensor has; negative with an error set. */
static int64_t bytes_in_storage(PyObject *tensor)
{
    PyObject *storage = ask(tensor, STORAGE);
    PyObject *size = storage == NULL ? NULL : PyObject_CallOneArg(storage_bytes, storage);
    int64_t nbytes = size == NULL ? -1 : PyLong_AsLongLong(size);
    Py_XDECREF(size);
    Py_XDECREF(storage);
    return nbytes;
}

/* From the first element of a tensor to the end of the last one, in bytes. */
static int64_t reach(const Look *seen)
{
    int64_t last = 0;
    if (seen->strides == NULL)
        return bytes_of(seen);
    for (int axis = 0; axis < seen->axes; axis++) {
        if (seen->shape[axis] == 0)
            return 0;
        last += (seen->shape[axis] - 1) * seen->strides[axis];
    }
    return (last + 1) * (seen->bits * seen->lanes / 8);
}

/* Whether what lies at an address are all elements of a tensor. */
static int is_all_there(PyObject *tensor, const Look *seen, const char *address)
{
    PyObject *guard = is_overridden(tensor) == 0 ? NULL : ask_torch();
    int64_t place = PyErr_Occurred() ? -1 : place_in_storage(tensor, seen);
    /* A view into a storage that was given back answers how far behind nothing it would lie. */
    int is_there = place >= 0 && ((uintptr_t)address >= HIGH || (int64_t)(intptr_t)address != place);
    if (is_there && storage_bytes != NULL)
        is_there = place + reach(seen) <= bytes_in_storage(tensor);
    if (guard != NULL)
        done_asking(guard);
    PyErr_Clear();
    return is_there;
}

int are_storages_asked(void) { return storage_bytes != NULL; }

char *first_element(PyObject *tensor, const Look *seen)
{
    char *address = (char *)seen->data + seen->offset;
    int is_there = (uintptr_t)address >= HIGH && storage_bytes == NULL;
    return is_there || is_all_there(tensor, seen, address) ? address : NULL;
}

PyObject *value_of(const Site *site, PyObject *tensor, const Look *seen, void **gathered)
{
    if (!site->wanted)
        return Py_NewRef(Py_None);
    if (!site->direct || seen->device != ON_CPU || seen->axes > MOST_AXES ||
        (site->summary && measure == Py_None))
        return NULL;
    int64_t nbytes = bytes_of(seen), size = seen->bits * seen->lanes / 8;
    if (nbytes == 0 || nbytes != site->nbytes)
        return NULL;
    if (!is_as_it_lies(tensor, seen))
        return NULL;
    char *address = first_element(tensor, seen);
    if (address == NULL)
        return NULL;
    if (!lies_readable(site, seen)) {
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

PyObject *site_value(PyObject *object, PyObject *tensor)
{
    Site *site = (Site *)object;
    Look seen;
    void *gathered = NULL;
    PyObject *value = NULL;
    if (look(tensor, &seen) && (!site->wanted || lies_readable(site, &seen)) && fits_seen(site, tensor, &seen) == 1)
        value = value_of(site, tensor, &seen, &gathered);
    put_off();
    return value != NULL ? value : Py_NewRef(Py_NotImplemented);
}

/* look_through(capsule or None, measure or None, classes, base): how tensors are looked at, and their statistics taken;
 * the class that torch writes in C answers for them. */
static PyObject *look_through(PyObject *module, PyObject *args)
{
    PyObject *capsule, *statistics, *classes, *base;
    if (!PyArg_ParseTuple(args, "OOO!O!", &capsule, &statistics, &PyTuple_Type, &classes, &PyType_Type, &base))
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
        PyObject *answer = PyObject_GetAttr(base, *questions[question]);
        if (answer == NULL)
            return NULL;
        if (!Py_IS_TYPE(answer, question < IS_CONJ ? &PyGetSetDescr_Type : &PyMethodDescr_Type)) {
            Py_DECREF(answer);
            return PyErr_Format(PyExc_TypeError, "tensors of torch have no %U", *questions[question]);
        }
        Py_XSETREF(answers[question], answer);
    }
    Py_XSETREF(measure, Py_NewRef(statistics));
    return PyBool_FromLong(exchange != NULL);
}

/* look_closely(): tensors are about that have not the elements that lie in their memory. */
static PyObject *look_closely(PyObject *module, PyObject *nothing)
{
    lazy_met = 1;
    Py_RETURN_NONE;
}

/* look_at_storages(nbytes): tensors are about that reach past the end of their storage, whose size that tells. */
static PyObject *look_at_storages(PyObject *module, PyObject *nbytes)
{
    Py_XSETREF(storage_bytes, Py_NewRef(nbytes));
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"look_through", look_through, METH_VARARGS, "How tensors are to be looked at."},
    {"look_closely", look_closely, METH_NOARGS, "Tensors may have other elements than lie there."},
    {"look_at_storages", look_at_storages, METH_O, "Tensors may reach past the end of their storage."},
    {NULL}};

int add_tensor_access(PyObject *module)
{
    measure = Py_NewRef(Py_None);
    return PyModule_AddFunctions(module, functions);
}
