/* The module: what its files share, and the types that hold something and do nothing.
 *
 * Nothing here is linked with torch: its objects are asked by their attributes, as Python does.
 */
#include "_adapter.h"

#define DEFINE_NAME(name) PyObject *str_##name;
#define DEFINE_SLOT(name) Slot slot_##name;
NAMES(DEFINE_NAME)
SLOTS(DEFINE_SLOT)

PyObject *get_by_name(PyObject *object, Slot *slot)
{
    if (slot->owner == NULL) {
        PyTypeObject *owner = Py_TYPE(object);
        PyObject *found = PyObject_GetAttr((PyObject *)owner, slot->name);
        if (found == NULL)
            PyErr_Clear();
        else if (Py_IS_TYPE(found, &PyMemberDescr_Type) &&
                 ((PyMemberDescrObject *)found)->d_member->type == T_OBJECT_EX) {
            slot->place = ((PyMemberDescrObject *)found)->d_member->offset;
            slot->owner = (PyTypeObject *)Py_NewRef((PyObject *)owner);
        }
        Py_XDECREF(found);
        if (slot->owner == NULL) /* its class does not say where: nothing that is asked is of this one */
            slot->owner = &PyBaseObject_Type;
    }
    return PyObject_GetAttr(object, slot->name);
}

PyTypeObject *known_type, *site_type, *rule_type, *run_type, *place_type, *call_type, *handler_type;

/* A weak reference that is told from those of the program; Python's own are shared by all who ask for one. */
static PyTypeObject reference_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "graphscope.adapters.torch._calls.Reference",
    .tp_doc = "A weak reference of the recorder's.",
    .tp_flags = Py_TPFLAGS_DEFAULT,
};

PyObject *new_reference(PyObject *object)
{
    PyObject *reference = PyWeakref_NewRef(object, NULL);
    if (reference == NULL || !Py_IS_TYPE(reference, &_PyWeakref_RefType))
        return reference;
    if (Py_REFCNT(reference) == 1) { /* nobody had one: what is ours alone can be of our class */
        Py_SET_TYPE(reference, &reference_type);
        return reference;
    }
    Py_DECREF(reference);
    return PyObject_CallOneArg((PyObject *)&reference_type, object);
}

/* Known: a tensor that the log has a row of ------------------------------------------------------------------------ */

Known *new_known(PyTypeObject *type, PyObject *tensor)
{
    Known *self = (Known *)type->tp_alloc(type, 0);
    if (self == NULL)
        return NULL;
    if ((self->reference = new_reference(tensor)) == NULL)
        Py_CLEAR(self);
    else
        PyObject_GC_UnTrack(self->reference); /* it holds nothing, so that the collector has nothing to find there */
    return self;
}

static PyObject *Known_new(PyTypeObject *type, PyObject *args, PyObject *names)
{
    PyObject *tensor;
    if (!PyArg_ParseTuple(args, "O", &tensor))
        return NULL;
    return (PyObject *)new_known(type, tensor);
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
    return Py_NewRef(referent(self->reference));
}

static PyMemberDef Known_members[] = {
    {"row", T_LONGLONG, offsetof(Known, row), 0, NULL},   {"counter", T_LONGLONG, offsetof(Known, counter), 0, NULL},
    {"seen", T_LONGLONG, offsetof(Known, seen), 0, NULL}, {"group", T_OBJECT, offsetof(Known, group), 0, NULL},
    {"more", T_OBJECT, offsetof(Known, more), 0, NULL},   {NULL}};

static PyType_Slot Known_slots[] = {
    {Py_tp_doc, "A tensor that the log has a row of; calling it gives the tensor, or None."},
    {Py_tp_new, Known_new},
    {Py_tp_dealloc, Known_dealloc},
    {Py_tp_call, Known_call},
    {Py_tp_members, Known_members},
    {0, NULL}};

static PyType_Spec Known_spec = {"graphscope.adapters.torch._calls.Known", sizeof(Known), 0,
                                 Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, Known_slots};

/* Site: a call site, and the result that its template is for ------------------------------------------------------- */

#define SITE_PARTS(X) X(next) X(shape) X(dtype) X(constants) X(template) X(fields) X(code) X(slots) X(beside) X(awaiting)
HOLDS(Site, SITE_PARTS)

#define OBJECT(name) {#name, T_OBJECT, offsetof(Site, name), 0, NULL}
#define TRUTH(name) {#name, T_BOOL, offsetof(Site, name), 0, NULL}
static PyMemberDef Site_members[] = {OBJECT(shape),
                                     OBJECT(dtype),
                                     OBJECT(constants),
                                     OBJECT(template),
                                     OBJECT(awaiting),
                                     OBJECT(fields),
                                     OBJECT(code),
                                     OBJECT(next),
                                     OBJECT(slots),
                                     OBJECT(beside),
                                     TRUTH(requires_grad),
                                     TRUTH(direct),
                                     TRUTH(ordered),
                                     TRUTH(summary),
                                     TRUTH(wanted),
                                     {"count", T_LONGLONG, offsetof(Site, count), 0, NULL},
                                     {"varying", T_LONGLONG, offsetof(Site, varying), 0, NULL},
                                     {"nbytes", T_LONGLONG, offsetof(Site, nbytes), 0, NULL},
                                     {"floating", T_LONGLONG, offsetof(Site, floating), 0, NULL},
                                     {NULL}};

static PyMethodDef Site_methods[] = {
    {"value", site_value, METH_O, "The value of a row for a tensor that the template is for."}, {NULL}};

static PyType_Slot Site_slots[] = {{Py_tp_doc, "A call site, and the result that its template is for."},
                                   {Py_tp_new, PyType_GenericNew},
                                   {Py_tp_dealloc, Site_dealloc},
                                   {Py_tp_traverse, Site_traverse},
                                   {Py_tp_clear, Site_clear},
                                   {Py_tp_members, Site_members},
                                   {Py_tp_methods, Site_methods},
                                   {0, NULL}};

static PyType_Spec Site_spec = {"graphscope.adapters.torch._calls.Site", sizeof(Site), 0,
                                Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, Site_slots};

/* Place and Call --------------------------------------------------------------------------------------------------- */

#define PLACE_PARTS(X) X(context) X(calls) X(run)
HOLDS(Place, PLACE_PARTS)

static PyMemberDef Place_members[] = {{"context", T_OBJECT, offsetof(Place, context), 0, NULL},
                                      {"calls", T_OBJECT, offsetof(Place, calls), 0, NULL},
                                      {"run", T_OBJECT, offsetof(Place, run), 0, NULL},
                                      {"backward_row", T_LONGLONG, offsetof(Place, backward_row), 0, NULL},
                                      {"sequence", T_LONGLONG, offsetof(Place, sequence), 0, NULL},
                                      {"thread", T_LONGLONG, offsetof(Place, thread), 0, NULL},
                                      {"thread_id", T_ULONG, offsetof(Place, thread_id), 0, NULL},
                                      {"first", T_ULONGLONG, offsetof(Place, first), 0, NULL},
                                      {"last", T_ULONGLONG, offsetof(Place, last), 0, NULL},
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
                                     {"writes", T_BOOL, offsetof(Call, writes), 0, NULL},
                                     {"assigns_gradient", T_BOOL, offsetof(Call, assigns_gradient), 0, NULL},
                                     {"views", T_BOOL, offsetof(Call, views), 0, NULL},
                                     {NULL}};

static PyType_Slot Call_slots[] = {{Py_tp_doc, "A function of torch, as far as a call of it asks."},
                                   {Py_tp_new, PyType_GenericNew},
                                   {Py_tp_dealloc, Call_dealloc},
                                   {Py_tp_members, Call_members},
                                   {0, NULL}};

static PyType_Spec Call_spec = {"graphscope.adapters.torch._calls.Call", sizeof(Call), 0,
                                Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, Call_slots};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_calls", "The hot path of recording PyTorch.", -1,
                                        NULL};

PyMODINIT_FUNC PyInit__calls(void)
{
#define INTERN(name)                                                                                                   \
    if ((str_##name = PyUnicode_InternFromString(#name)) == NULL)                                                      \
        return NULL;
#define INTERN_SLOT(each)                                                                                              \
    if ((slot_##each.name = PyUnicode_InternFromString(#each)) == NULL)                                                \
        return NULL;
    NAMES(INTERN)
    SLOTS(INTERN_SLOT)
    PyObject *module = PyModule_Create(&definition);
    reference_type.tp_base = &_PyWeakref_RefType;
    PyObject *known = PyType_FromSpec(&Known_spec), *site = PyType_FromSpec(&Site_spec),
             *place = PyType_FromSpec(&Place_spec), *call = PyType_FromSpec(&Call_spec);
    if (module == NULL || known == NULL || site == NULL || place == NULL || call == NULL ||
        PyType_Ready(&reference_type) < 0 ||
        PyModule_AddObjectRef(module, "Reference", (PyObject *)&reference_type) < 0 ||
        PyModule_AddObjectRef(module, "Place", place) < 0 || PyModule_AddObjectRef(module, "Call", call) < 0 ||
        PyModule_AddObjectRef(module, "Known", known) < 0 || PyModule_AddObjectRef(module, "Site", site) < 0)
        return NULL;
    known_type = (PyTypeObject *)known;
    site_type = (PyTypeObject *)site;
    place_type = (PyTypeObject *)place;
    call_type = (PyTypeObject *)call;
    int failed = add_table(module) < 0 || add_tensor_access(module) < 0 || add_handler(module) < 0 ||
                 add_rules(module) < 0 || add_walk(module) < 0 || add_entry(module) < 0 || add_methods(module) < 0 ||
                 add_op_entry(module) < 0 || add_freeing(module) < 0 || add_slots(module) < 0 ||
                       add_updates(module) < 0 || add_promises(module) < 0;
    return failed ? NULL : module;
}
