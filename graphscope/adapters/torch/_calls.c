/* The hot path of recording PyTorch, compiled: a call whose arguments are known tensors and constants, at a call site
 * that is known, with one new tensor for a result. It does what `Calls.__torch_function__` does, and leaves every other
 * case to it. Python is the specification: everything works without this module, and the same rows are written.
 *
 * Nothing here is linked with torch: its objects are asked by their attributes, as Python does.
 */
#include "_adapter.h"

#define DEFINE_NAME(name) PyObject *str_##name;
NAMES(DEFINE_NAME)

/* Known: a tensor that the log has a row of ------------------------------------------------------------------------- */

static PyObject *Known_new(PyTypeObject *type, PyObject *args, PyObject *names)
{
    PyObject *tensor;
    if (!PyArg_ParseTuple(args, "O", &tensor))
        return NULL;
    Known *self = (Known *)type->tp_alloc(type, 0);
    if (self != NULL && (self->reference = PyWeakref_NewRef(tensor, NULL)) == NULL)
        Py_CLEAR(self);
    return (PyObject *)self;
}

static void Known_dealloc(Known *self)
{
    Py_CLEAR(self->reference);
    Py_CLEAR(self->group);
    Py_CLEAR(self->more);
    PyTypeObject *type = Py_TYPE(self);
    type->tp_free((PyObject *)self);
    Py_DECREF(type);
}

static PyObject *Known_call(Known *self, PyObject *args, PyObject *names)
{
    return Py_NewRef(PyWeakref_GET_OBJECT(self->reference));
}

static PyMemberDef Known_members[] = {
    {"row", T_LONGLONG, offsetof(Known, row), 0, NULL},       {"counter", T_LONGLONG, offsetof(Known, counter), 0, NULL},
    {"seen", T_LONGLONG, offsetof(Known, seen), 0, NULL},     {"group", T_OBJECT, offsetof(Known, group), 0, NULL},
    {"more", T_OBJECT, offsetof(Known, more), 0, NULL},       {NULL}};

static PyType_Slot Known_slots[] = {{Py_tp_doc, "A tensor that the log has a row of; calling it gives the tensor, or None."},
                                    {Py_tp_new, Known_new},
                                    {Py_tp_dealloc, Known_dealloc},
                                    {Py_tp_call, Known_call},
                                    {Py_tp_members, Known_members},
                                    {0, NULL}};

static PyType_Spec Known_spec = {"graphscope.adapters.torch._calls.Known", sizeof(Known), 0,
                                 Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, Known_slots};

/* Site: a call site, and the result that its template is for --------------------------------------------------------- */

static int Site_traverse(Site *self, visitproc visit, void *arg)
{
    Py_VISIT(self->shape);
    Py_VISIT(self->dtype);
    Py_VISIT(self->constants);
    Py_VISIT(self->template);
    Py_VISIT(self->fields);
    Py_VISIT(Py_TYPE(self));
    return 0;
}

static int Site_clear(Site *self)
{
    Py_CLEAR(self->shape);
    Py_CLEAR(self->dtype);
    Py_CLEAR(self->constants);
    Py_CLEAR(self->template);
    Py_CLEAR(self->fields);
    return 0;
}

static void Site_dealloc(Site *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    Site_clear(self);
    type->tp_free((PyObject *)self);
    Py_DECREF(type);
}

#define OBJECT(name) {#name, T_OBJECT, offsetof(Site, name), 0, NULL}
#define TRUTH(name) {#name, T_BOOL, offsetof(Site, name), 0, NULL}
static PyMemberDef Site_members[] = {OBJECT(shape),  OBJECT(dtype),  OBJECT(constants),
                                     OBJECT(template), OBJECT(fields), TRUTH(requires_grad), TRUTH(direct), TRUTH(summary),
                                     TRUTH(wanted), {"count", T_LONGLONG, offsetof(Site, count), 0, NULL},
                                     {"nbytes", T_LONGLONG, offsetof(Site, nbytes), 0, NULL},
                                     {"floating", T_LONGLONG, offsetof(Site, floating), 0, NULL}, {NULL}};

static PyType_Slot Site_slots[] = {{Py_tp_doc, "A call site, and the result that its template is for."},
                                   {Py_tp_new, PyType_GenericNew},
                                   {Py_tp_dealloc, Site_dealloc},
                                   {Py_tp_traverse, Site_traverse},
                                   {Py_tp_clear, Site_clear},
                                   {Py_tp_members, Site_members},
                                   {0, NULL}};

static PyType_Spec Site_spec = {"graphscope.adapters.torch._calls.Site", sizeof(Site), 0,
                                Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, Site_slots};

/* Place and Call ------------------------------------------------------------------------------------------------------ */

static int Place_traverse(Place *self, visitproc visit, void *arg)
{
    Py_VISIT(self->context);
    Py_VISIT(self->calls);
    Py_VISIT(self->run);
    Py_VISIT(Py_TYPE(self));
    return 0;
}

static int Place_clear(Place *self)
{
    Py_CLEAR(self->context);
    Py_CLEAR(self->calls);
    Py_CLEAR(self->run);
    return 0;
}

static void Place_dealloc(Place *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    Place_clear(self);
    type->tp_free((PyObject *)self);
    Py_DECREF(type);
}

static PyMemberDef Place_members[] = {{"context", T_OBJECT, offsetof(Place, context), 0, NULL},
                                      {"calls", T_OBJECT, offsetof(Place, calls), 0, NULL},
                                      {"run", T_OBJECT, offsetof(Place, run), 0, NULL},
                                      {"backward_row", T_LONGLONG, offsetof(Place, backward_row), 0, NULL},
                                      {"sequence", T_LONGLONG, offsetof(Place, sequence), 0, NULL},
                                      {"busy", T_BOOL, offsetof(Place, busy), 0, NULL},
                                      {NULL}};

static PyType_Slot Place_slots[] = {{Py_tp_doc, "Where one thread is."},
                                    {Py_tp_new, PyType_GenericNew},
                                    {Py_tp_dealloc, Place_dealloc},
                                    {Py_tp_traverse, Place_traverse},
                                    {Py_tp_clear, Place_clear},
                                    {Py_tp_members, Place_members},
                                    {0, NULL}};

static PyType_Spec Place_spec = {"graphscope.adapters.torch._calls.Place", sizeof(Place), 0,
                                 Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, Place_slots};

static void Call_dealloc(Call *self)
{
    PyTypeObject *type = Py_TYPE(self);
    type->tp_free((PyObject *)self);
    Py_DECREF(type);
}

static PyMemberDef Call_members[] = {{"key", T_LONGLONG, offsetof(Call, key), 0, NULL},
                                     {"ignored", T_BOOL, offsetof(Call, ignored), 0, NULL},
                                     {"plain", T_BOOL, offsetof(Call, is_plain), 0, NULL},
                                     {"gradient", T_BOOL, offsetof(Call, gradient), 0, NULL},
                                     {NULL}};

static PyType_Slot Call_slots[] = {{Py_tp_doc, "A function of torch, as far as a call of it asks."},
                                   {Py_tp_new, PyType_GenericNew},
                                   {Py_tp_dealloc, Call_dealloc},
                                   {Py_tp_members, Call_members},
                                   {0, NULL}};

static PyType_Spec Call_spec = {"graphscope.adapters.torch._calls.Call", sizeof(Call), 0,
                                Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, Call_slots};

PyTypeObject *known_type, *site_type, *rule_type, *run_type, *place_type, *call_type;

/* Looking at tensors -------------------------------------------------------------------------------------------------- */

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

int look(PyObject *tensor, Look *seen)
{
    PyObject *kind = (PyObject *)Py_TYPE(tensor);
    if (exchange == NULL || (kind != PyTuple_GET_ITEM(ordinary, 0) && kind != PyTuple_GET_ITEM(ordinary, 1)))
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
    /* Not as they lie there: the conjugate, or the negative. */
    if ((seen->code == COMPLEX && is_said(tensor, str_is_conj) != 0) ||
        (complex_was_seen && is_said(tensor, str_is_neg) != 0)) {
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
    Py_XSETREF(measure, Py_NewRef(statistics));
    return PyBool_FromLong(exchange != NULL);
}

/* Handler: what torch calls in the place of its functions ------------------------------------------------------------ */

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    int64_t room; /* so many entries of the table are let stand before those of dead tensors are taken out */
    PyObject *mode, *prepare, *finish, *failed, *view, *note, *purge;
    PyObject *session, *place, *writer, *append;
    PyObject *calls, *kinds, *inside, *table; /* dicts */
    PyObject *tensor_type, *known_class, *rule_class, *group_class, *tensor_kind, *plain_kind, *grad_enabled, *sequence_number, *rule;
} Handler;

static PyObject *empty; /* the name of a node that is its call's own */

static PyObject *by_address(PyObject *dict, const void *address)
{
    PyObject *key = PyLong_FromVoidPtr((void *)address);
    PyObject *found = key == NULL ? NULL : PyDict_GetItemWithError(dict, key);
    Py_XDECREF(key);
    return found;
}

/* The innermost frame of the program; a new reference, NULL where that takes more than a look. */
static PyFrameObject *program_frame(Handler *self)
{
    PyFrameObject *frame = PyEval_GetFrame();
    Py_XINCREF(frame);
    while (frame != NULL) {
        PyCodeObject *code = PyFrame_GetCode(frame);
        PyObject *inside = by_address(self->inside, code);
        Py_DECREF(code);
        if (inside == Py_False)
            return frame;
        PyFrameObject *outer = inside == Py_True ? PyFrame_GetBack(frame) : NULL;
        Py_DECREF(frame);
        frame = outer;
    }
    return NULL;
}

/* The row of an argument that is a tensor, as it is now; -1 where that takes more than a look. */
static int64_t row_of(Handler *self, PyObject *tensor, int64_t low)
{
    PyObject *found = by_address(self->table, tensor);
    if (found == NULL || !PyObject_TypeCheck(found, known_type))
        return -1;
    Known *known = (Known *)found;
    if (PyWeakref_GET_OBJECT(known->reference) != tensor || known->row < low)
        return -1;
    if (known->group != NULL && known->group != Py_None && number(known->group, str_turn) != known->seen)
        return -1;
    if (number(tensor, str__version) != known->counter) {
        PyErr_Clear(); /* those of inference mode count no writes */
        return -1;
    }
    return known->row;
}

/* Whether two shapes are the same. Sizes that a tracer has not fixed are not compared: that would fix them. */
static int same_shape(PyObject *shape, PyObject *other)
{
    Py_ssize_t count = PyTuple_GET_SIZE(shape);
    if (!PyTuple_Check(other) || PyTuple_GET_SIZE(other) != count)
        return 0;
    for (Py_ssize_t axis = 0; axis < count; axis++) {
        PyObject *size = PyTuple_GET_ITEM(shape, axis);
        if (!PyLong_CheckExact(size) || PyLong_AsLongLong(size) != PyLong_AsLongLong(PyTuple_GET_ITEM(other, axis)))
            return 0;
    }
    return 1;
}

/* The same of what was seen of a tensor. */
int fits_seen(Site *site, PyObject *result, const Look *seen)
{
    if (site->shape == NULL || !PyTuple_Check(site->shape) || PyTuple_GET_SIZE(site->shape) != seen->axes)
        return 0;
    for (int axis = 0; axis < seen->axes; axis++)
        if (PyLong_AsLongLong(PyTuple_GET_ITEM(site->shape, axis)) != seen->shape[axis])
            return 0;
    if (site->seen)
        return site->seen == dtype_of(seen);
    int same = is(result, str_dtype, site->dtype);
    if (same == 1)
        site->seen = dtype_of(seen);
    return same;
}

/* The same of a tensor that has to be asked. */
static int fits_asked(Site *site, PyObject *result)
{
    int same = is(result, str_dtype, site->dtype);
    PyObject *shape = same <= 0 ? NULL : PyObject_GetAttr(result, str_shape);
    if (shape == NULL)
        return same <= 0 ? same : -1;
    same = same_shape(shape, site->shape);
    Py_DECREF(shape);
    return same;
}

/* Whether the template of a site is for such a result; -1 for an error. */
static int fits(Site *site, PyObject *result, const Look *seen, PyObject *constants, Py_ssize_t count)
{
    if (site->count != count || site->template == NULL || site->shape == NULL || site->constants == NULL)
        return 0;
    int same = seen == NULL ? fits_asked(site, result) : fits_seen(site, result, seen);
    if (same > 0)
        same = is(result, str_requires_grad, site->requires_grad ? Py_True : Py_False);
    return same <= 0 ? same : PyObject_RichCompareBool(constants, site->constants, Py_EQ);
}

/* The address of the elements of a tensor that lie in one row in memory, as a new reference; NULL without an error where
 * they do not. */
static PyObject *address_of(PyObject *tensor)
{
    if (is(tensor, str_is_cpu, Py_True) != 1)
        return NULL;
    if (is_said(tensor, str_is_contiguous) != 1)
        return NULL;
    if (is_said(tensor, str_is_neg) != 0 || is_said(tensor, str_is_conj) != 0) /* others lie there */
        return NULL;
    PyObject *address = PyObject_CallMethodNoArgs(tensor, str_data_ptr);
    if (address != NULL && PyObject_IsTrue(address))
        return address;
    Py_XDECREF(address);
    return NULL;
}

/* Be one of those that share memory. */
static int join(Known *known, PyObject *group)
{
    if (known->group == group)
        return 0;
    int64_t turn = number(group, str_turn);
    if (turn < 0)
        return -1;
    Py_XSETREF(known->group, Py_NewRef(group));
    known->seen = turn;
    return 0;
}

/* Note that a new tensor is a view of a known one; -1 where that takes more. */
static int share(Handler *self, Known *known, PyObject *result, PyObject *base)
{
    Known *owner = (Known *)by_address(self->table, base);
    if (owner == NULL || !PyObject_TypeCheck((PyObject *)owner, known_type) ||
        PyWeakref_GET_OBJECT(owner->reference) != base || owner == known)
        return -1;
    int64_t counter = number(result, str__version);
    if (counter < 0)
        return -1;
    PyObject *group = owner->group == NULL || owner->group == Py_None ? PyObject_CallNoArgs(self->group_class)
                                                                      : Py_NewRef(owner->group);
    int failed = group == NULL || join(owner, group) < 0 || join(known, group) < 0;
    Py_XDECREF(group);
    known->counter = counter;
    return failed ? -1 : 0;
}

/* What a new backward node is told: the row of its call, and the number of the first node that the call made. */
static PyObject *new_rule(Handler *self, int64_t row, PyObject *fields, int64_t since)
{
    PyTypeObject *type = (PyTypeObject *)self->rule_class;
    Rule *rule = (Rule *)type->tp_alloc(type, 0);
    if (rule == NULL)
        return NULL;
    rule->session = Py_NewRef(self->session);
    rule->fields = Py_NewRef(fields);
    rule->name = Py_NewRef(empty);
    rule->forward = row;
    rule->since = since;
    return (PyObject *)rule;
}

/* The row of a result whose site is known, and everything that goes with it; 1 when done, 0 when it is not of the common
 * kind (nothing has happened then), -1 for an error. */
static int record(Handler *self, PyObject *call, PyFrameObject *frame, PyObject *result, PyObject *args, PyObject *rows,
                  PyObject *constants, int64_t start, int64_t end)
{
    Py_ssize_t count = PyList_GET_SIZE(rows);
    if ((PyObject *)Py_TYPE(result) != self->tensor_type || count > INLINE_INPUTS)
        return 0;
    PyObject *identity = PyLong_FromVoidPtr(result);
    if (identity == NULL)
        return -1;
    PyObject *before = PyDict_GetItemWithError(self->table, identity);
    if (before != NULL && PyObject_TypeCheck(before, known_type) &&
        PyWeakref_GET_OBJECT(((Known *)before)->reference) == result) {
        Py_DECREF(identity);
        return 0;
    }
    int answer = -1;
    PyObject *context = NULL, *enabled = NULL, *sites = NULL, *value = NULL, *key = NULL, *base = NULL;
    Site *site = NULL;
    Look seen;
    void *gathered = NULL;
    Place *place = (Place *)self->place;
    context = Py_XNewRef(place->context);
    if (context == NULL ||
        (enabled = PyObject_CallNoArgs(self->grad_enabled)) == NULL ||
        (sites = PyObject_GetAttr(context, enabled == Py_True ? str_sites : str_sites_without_grad)) == NULL)
        goto leave;
    PyCodeObject *code = PyFrame_GetCode(frame);
    key = PyLong_FromLongLong((int64_t)(uintptr_t)code + PyFrame_GetLasti(frame) + ((Call *)call)->key);
    Py_DECREF(code);
    if (key == NULL)
        goto leave;
    site = (Site *)PyDict_GetItemWithError(sites, key);
    if (site == NULL || !PyObject_TypeCheck((PyObject *)site, site_type)) {
        site = NULL;
        answer = PyErr_Occurred() ? -1 : 0;
        goto leave;
    }
    Py_INCREF(site);
    int looked = look(result, &seen);
    answer = fits(site, result, looked ? &seen : NULL, constants, count);
    if (answer != 1) {
        PyErr_Clear(); /* of constants that can't be compared */
        answer = 0;
        goto leave;
    }
    if (looked)
        value = value_of(site, result, &seen, &gathered);
    else if (site->direct && !site->summary)
        value = address_of(result);
    if (value == NULL) {
        PyErr_Clear();
        answer = 0;
        goto leave;
    }
    answer = -1;
    int64_t links[1 + INLINE_INPUTS] = {place->backward_row, 0, 0, 0};
    for (Py_ssize_t each = 0; each < count; each++)
        links[1 + each] = PyLong_AsLongLong(PyList_GET_ITEM(rows, each));
    int64_t written = appending->append_timed(self->append, site->template, value, end, end - start, links);
    if (written < 0)
        goto leave;
    PyObject *known = PyObject_CallOneArg(self->known_class, result);
    if (known == NULL)
        goto leave;
    ((Known *)known)->row = written;
    answer = PyDict_SetItem(self->table, identity, known);
    if (answer == 0 && PyDict_GET_SIZE(self->table) > self->room) {
        PyObject *room = PyObject_CallNoArgs(self->purge);
        self->room = room == NULL ? -1 : PyLong_AsLongLong(room);
        Py_XDECREF(room);
        answer = PyErr_Occurred() ? -1 : 0;
    }
    if (answer == 0 && (base = PyObject_GetAttr(result, str__base)) == NULL)
        answer = -1;
    if (answer == 0 && base != Py_None) {
        answer = share(self, (Known *)known, result, base);
        if (answer) {
            PyErr_Clear();
            PyObject *seen = PyObject_CallFunctionObjArgs(self->view, known, result, args, NULL);
            Py_XDECREF(seen);
            answer = seen == NULL ? -1 : 0;
        }
    }
    Py_DECREF(known);
    if (answer == 0 && site->requires_grad) {
        answer = -1;
        PyObject *node = PyObject_GetAttr(result, str_grad_fn);
        if (node != NULL && node != Py_None) {
            PyObject *metadata = PyObject_GetAttr(node, str_metadata);
            PyObject *rule = new_rule(self, written, site->fields, place->sequence);
            PyObject *next = PyObject_CallNoArgs(self->sequence_number);
            if (metadata != NULL && rule != NULL && next != NULL && PyObject_SetItem(metadata, self->rule, rule) == 0) {
                place->sequence = PyLong_AsLongLong(next);
                answer = 0;
            }
            Py_XDECREF(metadata);
            Py_XDECREF(rule);
            Py_XDECREF(next);
        }
        else if (node != NULL)
            answer = 0; /* a leaf */
        Py_XDECREF(node);
    }
    answer = answer == 0 ? 1 : -1;
leave:
    free(gathered);
    Py_XDECREF(base);
    Py_DECREF(identity);
    Py_XDECREF(context);
    Py_XDECREF(enabled);
    Py_XDECREF(sites);
    Py_XDECREF(key);
    Py_XDECREF(site);
    Py_XDECREF(value);
    return answer;
}

/* A list or tuple of constants, as one constant; NULL where it holds anything else. */
static PyObject *constant_of(Handler *self, PyObject *value)
{
    int is_list = PyList_CheckExact(value);
    if (!is_list && !PyTuple_CheckExact(value))
        return NULL;
    PyObject **items = PySequence_Fast_ITEMS(value);
    Py_ssize_t count = PySequence_Fast_GET_SIZE(value);
    for (Py_ssize_t place = 0; place < count; place++)
        if (PyDict_GetItemWithError(self->kinds, (PyObject *)Py_TYPE(items[place])) != self->plain_kind)
            return NULL;
    return is_list ? PyList_AsTuple(value) : Py_NewRef(value);
}

/* Sort an argument: 1 for a known tensor, 2 for a constant, 0 where it takes more. */
static int sort_one(Handler *self, PyObject *value, int64_t low, PyObject *rows, PyObject *constants)
{
    PyObject *kind = PyDict_GetItemWithError(self->kinds, (PyObject *)Py_TYPE(value));
    if (kind == self->tensor_kind) {
        int64_t row = row_of(self, value, low);
        PyObject *boxed = row < 0 ? NULL : PyLong_FromLongLong(row);
        int failed = boxed == NULL || PyList_Append(rows, boxed) < 0;
        Py_XDECREF(boxed);
        return !failed;
    }
    if (kind == self->plain_kind)
        return PyList_Append(constants, value) < 0 ? 0 : 2;
    PyObject *constant = constant_of(self, value);
    int failed = constant == NULL || PyList_Append(constants, constant) < 0;
    Py_XDECREF(constant);
    return failed ? 0 : 2;
}

/* Sort the arguments; 1 when all are tensors that are known and constants, else 0. */
static int sort(Handler *self, PyObject *args, PyObject *kwargs, int64_t low, PyObject *rows, PyObject *constants)
{
    for (Py_ssize_t place = 0; place < PyTuple_GET_SIZE(args); place++)
        if (!sort_one(self, PyTuple_GET_ITEM(args, place), low, rows, constants))
            return 0;
    PyObject *name, *value;
    Py_ssize_t place = 0;
    while (kwargs != NULL && PyDict_Next(kwargs, &place, &name, &value)) {
        int sorted = sort_one(self, value, low, rows, constants);
        if (!sorted || (sorted == 2 && PyList_Append(constants, name) < 0))
            return 0;
    }
    return 1;
}

/* Whether a call is of the common kind so far: its arguments are sorted then. */
static int is_common(Handler *self, PyObject *call, PyObject *args, PyObject *kwargs, PyFrameObject **frame, PyObject *rows,
                     PyObject *constants)
{
    if (call == NULL || !((Call *)call)->is_plain || appending == NULL || Py_TYPE(self->append) != appending->appender ||
        is(self->session, str_ended, Py_False) != 1 || is(self->writer, str_gate, Py_None) != 1)
        return 0;
    *frame = program_frame(self);
    if (*frame == NULL)
        return 0;
    if (*frame != PyEval_GetFrame()) { /* torch itself calls: it may be making a module */
        PyObject *context = ((Place *)self->place)->context;
        if (context == NULL || is(context, str_module, Py_None) != 0)
            return 0;
    }
    return sort(self, args, kwargs, number(self->writer, str_low), rows, constants);
}

/* Tell the log of an exception that is set, and leave it set. */
static void tell(Handler *self, PyObject *call, PyObject *frame, PyObject *rows)
{
    PyObject *type, *error, *trace;
    PyErr_Fetch(&type, &error, &trace);
    PyErr_NormalizeException(&type, &error, &trace);
    if (PyErr_GivenExceptionMatches(type, PyExc_Exception)) {
        PyObject *told = PyObject_CallFunctionObjArgs(self->failed, call, frame, rows, error, NULL);
        if (told == NULL)
            PyErr_Clear();
        Py_XDECREF(told);
    }
    PyErr_Restore(type, error, trace);
}

/* __torch_function__(func, types, args=(), kwargs=None). The function is called from here in every case: what it warns
 * of is told of the program's line, and its exceptions pass no frame of ours. */
static PyObject *Handler_call(PyObject *object, PyObject *const *given, size_t flags, PyObject *names)
{
    Handler *self = (Handler *)object;
    Py_ssize_t count = PyVectorcall_NARGS(flags);
    if (names != NULL || count < 3 || !PyTuple_Check(given[2])) {
        PyErr_SetString(PyExc_TypeError, "__torch_function__(func, types, args, kwargs)");
        return NULL;
    }
    PyObject *func = given[0], *args = given[2], *kwargs = count > 3 && given[3] != Py_None ? given[3] : NULL;
    PyObject *call = PyDict_GetItemWithError(self->calls, func), *held = NULL;
    if (call == NULL && PyErr_Occurred())
        return NULL;
    if (call != NULL && !PyObject_TypeCheck(call, call_type))
        call = NULL;
    if (((Place *)self->place)->busy || (call != NULL && ((Call *)call)->ignored))
        return PyObject_Call(func, args, kwargs);
    if (call != NULL && ((Call *)call)->gradient) {
        PyObject *gradient = PyObject_Call(func, args, kwargs);
        if (gradient != NULL && gradient != Py_None && PyTuple_GET_SIZE(args)) {
            PyObject *told = PyObject_CallFunctionObjArgs(self->note, PyTuple_GET_ITEM(args, 0), gradient, NULL);
            if (told == NULL)
                Py_CLEAR(gradient);
            Py_XDECREF(told);
        }
        return gradient;
    }
    PyFrameObject *found = NULL;
    PyObject *rows = PyList_New(0), *constants = PyList_New(0), *frame = NULL, *result = NULL, *prepared = NULL;
    if (rows == NULL || constants == NULL)
        goto leave;
    int common = is_common(self, call, args, kwargs, &found, rows, constants);
    frame = (PyObject *)found;
    if (common)
        held = Py_NewRef(call);
    else {
        PyErr_Clear();
        call = NULL;
        PyFrameObject *direct = PyEval_GetFrame();
        prepared = direct == NULL ? Py_NewRef(Py_None)
                                  : PyObject_CallFunctionObjArgs(self->prepare, direct, func, args,
                                                                 kwargs ? kwargs : Py_None, NULL);
        if (prepared == NULL)
            goto leave;
        if (prepared == Py_None) {
            result = PyObject_Call(func, args, kwargs);
            goto leave;
        }
        Py_XSETREF(rows, NULL);
        Py_XSETREF(constants, NULL);
        Py_XSETREF(frame, NULL);
        if (!PyArg_ParseTuple(prepared, "OOOO", &call, &frame, &rows, &constants)) {
            call = frame = rows = constants = NULL;
            goto leave;
        }
        held = Py_NewRef(call);
        Py_INCREF(frame);
        Py_INCREF(rows);
        Py_INCREF(constants);
    }
    int64_t start = now();
    result = PyObject_Call(func, args, kwargs);
    int64_t end = now();
    if (result == NULL) {
        tell(self, call, frame, rows);
        goto leave;
    }
    int done = common ? record(self, call, (PyFrameObject *)frame, result, args, rows, constants, start, end) : 0;
    if (done == 0) {
        PyObject *told = PyObject_CallFunction(self->finish, "OOOOOOOLL", call, result, args, kwargs ? kwargs : Py_None,
                                               rows, constants, frame, (long long)start, (long long)end);
        Py_XDECREF(told);
        done = told == NULL ? -1 : 1;
    }
    if (done < 0)
        Py_CLEAR(result);
leave:
    Py_XDECREF(held);
    Py_XDECREF(frame);
    Py_XDECREF(rows);
    Py_XDECREF(constants);
    Py_XDECREF(prepared);
    return result;
}

#define HELD(X)                                                                                                        \
    X(mode) X(prepare) X(finish) X(failed) X(view) X(note) X(purge) X(session) X(place) X(writer) X(append) X(calls) X(kinds) X(inside) X(table)            \
    X(tensor_type) X(known_class) X(rule_class) X(group_class) X(tensor_kind) X(plain_kind) X(grad_enabled) X(sequence_number) X(rule)

static int Handler_init(Handler *self, PyObject *args, PyObject *names)
{
    if (PyTuple_GET_SIZE(args) || names == NULL) {
        PyErr_SetString(PyExc_TypeError, "Handler takes everything by name");
        return -1;
    }
#define TAKE(name)                                                                                                     \
    PyObject *name = PyDict_GetItemString(names, #name);                                                               \
    if (name == NULL) {                                                                                                \
        PyErr_SetString(PyExc_TypeError, "Handler lacks " #name);                                                      \
        return -1;                                                                                                     \
    }                                                                                                                  \
    Py_XSETREF(self->name, Py_NewRef(name));
    HELD(TAKE)
    if (!PyDict_Check(self->calls) || !PyDict_Check(self->kinds) || !PyDict_Check(self->inside) ||
        !PyDict_Check(self->table)) {
        PyErr_SetString(PyExc_TypeError, "calls, kinds, inside and table are dicts");
        return -1;
    }
    if (!PyObject_TypeCheck(self->place, place_type)) {
        PyErr_SetString(PyExc_TypeError, "place is no Place");
        return -1;
    }
    self->vectorcall = Handler_call;
    return 0;
}

static int Handler_traverse(Handler *self, visitproc visit, void *arg)
{
#define VISIT(name) Py_VISIT(self->name);
    HELD(VISIT)
    Py_VISIT(Py_TYPE(self));
    return 0;
}

static int Handler_clear(Handler *self)
{
#define CLEAR(name) Py_CLEAR(self->name);
    HELD(CLEAR)
    return 0;
}

static void Handler_dealloc(Handler *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    Handler_clear(self);
    type->tp_free((PyObject *)self);
    Py_DECREF(type);
}

static PyMemberDef Handler_members[] = {
    {"__self__", T_OBJECT, offsetof(Handler, mode), READONLY, NULL}, /* torch wants a method of the mode */
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Handler, vectorcall), READONLY, NULL}, {NULL}};

static PyType_Slot Handler_slots[] = {{Py_tp_doc, "What torch calls in the place of its functions."},
                                      {Py_tp_new, PyType_GenericNew},
                                      {Py_tp_init, Handler_init},
                                      {Py_tp_call, PyVectorcall_Call},
                                      {Py_tp_dealloc, Handler_dealloc},
                                      {Py_tp_traverse, Handler_traverse},
                                      {Py_tp_clear, Handler_clear},
                                      {Py_tp_members, Handler_members},
                                      {0, NULL}};

static PyType_Spec Handler_spec = {"graphscope.adapters.torch._calls.Handler", sizeof(Handler), 0,
                                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL, Handler_slots};

static PyMethodDef functions[] = {{"look_through", look_through, METH_VARARGS, "How tensors are to be looked at."}, {NULL}};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_calls", "The hot path of recording PyTorch.", -1,
                                        functions};

PyMODINIT_FUNC PyInit__calls(void)
{
#define INTERN(name)                                                                                                   \
    if ((str_##name = PyUnicode_InternFromString(#name)) == NULL)                                                      \
        return NULL;
    NAMES(INTERN)
    PyObject *module = PyModule_Create(&definition);
    PyObject *known = PyType_FromSpec(&Known_spec), *site = PyType_FromSpec(&Site_spec),
             *handler = PyType_FromSpec(&Handler_spec), *place = PyType_FromSpec(&Place_spec),
             *call = PyType_FromSpec(&Call_spec);
    if (module == NULL || known == NULL || site == NULL || handler == NULL || place == NULL || call == NULL ||
        PyModule_AddObjectRef(module, "Place", place) < 0 || PyModule_AddObjectRef(module, "Call", call) < 0 ||
        PyModule_AddObjectRef(module, "Known", known) < 0 || PyModule_AddObjectRef(module, "Site", site) < 0 ||
        PyModule_AddObjectRef(module, "Handler", handler) < 0)
        return NULL;
    known_type = (PyTypeObject *)known;
    site_type = (PyTypeObject *)site;
    place_type = (PyTypeObject *)place;
    call_type = (PyTypeObject *)call;
    Py_DECREF(handler);
    measure = Py_NewRef(Py_None);
    if ((empty = PyUnicode_InternFromString("")) == NULL || add_rules(module) < 0)
        return NULL;
    return module;
}
