/* Table: what the log knows of tensors, by their addresses. A dict would make a number of each address. */
#include "_adapter.h"

enum { LEAST = 256 };

typedef struct {
    const void *address; /* NULL: nothing lies here */
    Known *known;
} Entry;

struct Table {
    PyObject_HEAD
    Py_ssize_t count, size; /* at most half of the entries are in use, and their number is a power of 2 */
    Entry *entries;
};

/* Where the search for an address begins. */
static inline Py_ssize_t home(const Table *self, const void *address)
{
    return (Py_ssize_t)(((uint64_t)(uintptr_t)address * 0x9e3779b97f4a7c15u) >> 32) & (self->size - 1);
}

/* Where an address lies, or would. */
static Py_ssize_t place_of(const Table *self, const void *address)
{
    Py_ssize_t place = home(self, address);
    while (self->entries[place].address != NULL && self->entries[place].address != address)
        place = (place + 1) & (self->size - 1);
    return place;
}

Known *known_at(const Table *self, const void *address) { return self->entries[place_of(self, address)].known; }

/* Take other entries in the place of those that are; the references go with them. */
static int resize(Table *self, Py_ssize_t size)
{
    Entry *before = self->entries, *entries = PyMem_Calloc(size, sizeof *entries);
    Py_ssize_t count = self->size;
    if (entries == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    self->entries = entries;
    self->size = size;
    for (Py_ssize_t place = 0; place < count; place++)
        if (before[place].address != NULL)
            entries[place_of(self, before[place].address)] = before[place];
    PyMem_Free(before);
    return 0;
}

int set_known(Table *self, const void *address, Known *known)
{
    if (2 * (self->count + 1) > self->size && resize(self, 2 * self->size) < 0)
        return -1;
    Entry *entry = &self->entries[place_of(self, address)];
    Known *before = entry->known;
    self->count += entry->address == NULL;
    *entry = (Entry){address, (Known *)Py_NewRef((PyObject *)known)};
    Py_XDECREF((PyObject *)before);
    return 0;
}

Py_ssize_t count_known(const Table *self) { return self->count; }

/* Take out an entry, and give its reference away; those that had to go past it move up. */
static Known *take_out(Table *self, Py_ssize_t place)
{
    Known *found = self->entries[place].known;
    Py_ssize_t last = self->size - 1, next = place;
    while (self->entries[next = (next + 1) & last].address != NULL) {
        Py_ssize_t from_home = (next - home(self, self->entries[next].address)) & last;
        if (from_home < ((next - place) & last))
            continue;
        self->entries[place] = self->entries[next];
        place = next;
    }
    self->entries[place] = (Entry){NULL, NULL};
    self->count--;
    return found;
}

/* What Python asks of a table -------------------------------------------------------------------------------------- */

static PyObject *Table_new(PyTypeObject *type, PyObject *args, PyObject *names)
{
    Table *self = (Table *)type->tp_alloc(type, 0);
    if (self != NULL && resize(self, LEAST) < 0)
        Py_CLEAR(self);
    return (PyObject *)self;
}

static void Table_dealloc(Table *self)
{
    PyTypeObject *type = Py_TYPE(self);
    for (Py_ssize_t place = 0; place < self->size; place++)
        Py_XDECREF((PyObject *)self->entries[place].known);
    PyMem_Free(self->entries);
    type->tp_free((PyObject *)self);
    Py_DECREF(type);
}

/* An address that Python has as a number; NULL with an error set where it is none. */
static void *address_in(PyObject *key)
{
    void *address = PyLong_AsVoidPtr(key);
    if (address == NULL && !PyErr_Occurred())
        PyErr_SetString(PyExc_ValueError, "nothing lies at the address 0");
    return address;
}

static PyObject *Table_get(Table *self, PyObject *key)
{
    void *address = address_in(key);
    if (address == NULL)
        return NULL;
    Known *found = known_at(self, address);
    return Py_NewRef(found == NULL ? Py_None : (PyObject *)found);
}

static PyObject *Table_find(Table *self, PyObject *tensor)
{
    Known *found = known_at(self, tensor);
    return Py_NewRef(found != NULL && referent(found->reference) == tensor ? (PyObject *)found : Py_None);
}

static PyObject *Table_take(Table *self, PyObject *key)
{
    void *address = address_in(key);
    if (address == NULL)
        return NULL;
    Py_ssize_t place = place_of(self, address);
    if (self->entries[place].address == NULL)
        Py_RETURN_NONE;
    return (PyObject *)take_out(self, place);
}

static int Table_set(Table *self, PyObject *key, PyObject *value)
{
    void *address = address_in(key);
    if (address == NULL)
        return -1;
    if (value == NULL || !PyObject_TypeCheck(value, known_type)) {
        PyErr_SetString(PyExc_TypeError, "a table holds Known; take takes one out");
        return -1;
    }
    return set_known(self, address, (Known *)value);
}

static Py_ssize_t Table_length(Table *self) { return self->count; }

static PyObject *Table_values(Table *self, PyObject *nothing)
{
    PyObject *list = PyList_New(0);
    for (Py_ssize_t place = 0; list != NULL && place < self->size; place++)
        if (self->entries[place].address != NULL && PyList_Append(list, (PyObject *)self->entries[place].known) < 0)
            Py_CLEAR(list);
    return list;
}

/* Take those out that are gone. What they hold may have a finalizer: they go when the table is whole again. */
static PyObject *Table_forget(Table *self, PyObject *nothing)
{
    PyObject *gone = PyList_New(0);
    for (Py_ssize_t place = 0; gone != NULL && place < self->size;) {
        Known *known = self->entries[place].known;
        if (known == NULL || referent(known->reference) != Py_None)
            place++;
        else if (PyList_Append(gone, (PyObject *)known) < 0)
            Py_CLEAR(gone);
        else
            Py_DECREF((PyObject *)take_out(self, place)); /* another one may lie here now */
    }
    if (gone == NULL)
        return NULL;
    Py_DECREF(gone);
    Py_RETURN_NONE;
}

static PyMethodDef Table_methods[] = {
    {"get", (PyCFunction)Table_get, METH_O, "What is known of an address, or None."},
    {"find", (PyCFunction)Table_find, METH_O, "What is known of a tensor, or None."},
    {"take", (PyCFunction)Table_take, METH_O, "The same, taken out."},
    {"values", (PyCFunction)Table_values, METH_NOARGS, "All that is known."},
    {"forget", (PyCFunction)Table_forget, METH_NOARGS, "Take those out that are gone."},
    {NULL}};

static PyType_Slot Table_slots[] = {{Py_tp_doc, "What the log knows of tensors, by their addresses."},
                                    {Py_tp_new, Table_new},
                                    {Py_tp_dealloc, Table_dealloc},
                                    {Py_tp_methods, Table_methods},
                                    {Py_mp_length, Table_length},
                                    {Py_mp_ass_subscript, Table_set},
                                    {0, NULL}};

static PyType_Spec Table_spec = {"graphscope.adapters.torch._calls.Table", sizeof(Table), 0, Py_TPFLAGS_DEFAULT,
                                 Table_slots};

PyTypeObject *table_type;

int add_table(PyObject *module)
{
    table_type = (PyTypeObject *)PyType_FromSpec(&Table_spec);
    return table_type == NULL ? -1 : PyModule_AddObjectRef(module, "Table", (PyObject *)table_type);
}
