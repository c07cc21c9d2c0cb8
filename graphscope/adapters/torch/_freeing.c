/* Backward nodes are freed one after another, however long the chain is that they form.
 *
 * Torch frees a graph in a loop, but a node that Python has seen is freed by way of its Python object, from within the
 * node that held it: each node of a chain takes some of the stack, and a recorder sees them all. Classes of nodes get a
 * `tp_dealloc` here that puts off what lies deep. They keep it when a recording ends: its nodes may live on.
 */
#include "_adapter.h"

enum { DEEPEST = 50, FEWEST = 64 };

destructor freed_by_torch;

/* What a thread is freeing: how deep it is, and what is put off until it is done. */
static _Thread_local struct {
    int depth;
    PyObject **waiting;
    size_t count, room;
} freeing;

/* Put off a node; 0 where there is no memory for that. */
static int put_node_off(PyObject *node)
{
    if (freeing.count == freeing.room) {
        size_t room = freeing.room ? 2 * freeing.room : FEWEST;
        PyObject **waiting = realloc(freeing.waiting, room * sizeof *waiting);
        if (waiting == NULL)
            return 0;
        freeing.waiting = waiting;
        freeing.room = room;
    }
    freeing.waiting[freeing.count++] = node;
    return 1;
}

void free_node(PyObject *node)
{
    PyObject_GC_UnTrack(node); /* nobody may find it while it waits */
    if (freeing.depth >= DEEPEST && put_node_off(node))
        return;
    freeing.depth++;
    freed_by_torch(node);
    freeing.depth--;
    if (freeing.depth || !freeing.room)
        return;
    while (freeing.count) {
        freeing.depth++;
        freed_by_torch(freeing.waiting[--freeing.count]);
        freeing.depth--;
    }
    free(freeing.waiting);
    freeing.waiting = NULL;
    freeing.room = 0;
}

/* free_in_turn(node_class, classes): let the nodes of all classes that are freed as those of one be freed in turn. */
static PyObject *free_in_turn(PyObject *module, PyObject *args)
{
    PyTypeObject *node_class;
    PyObject *classes;
    if (!PyArg_ParseTuple(args, "O!O!", &PyType_Type, &node_class, &PyList_Type, &classes))
        return NULL;
    if (freed_by_torch == NULL && !PyType_HasFeature(node_class, Py_TPFLAGS_HEAPTYPE)) /* else Python frees them */
        freed_by_torch = node_class->tp_dealloc;
    for (Py_ssize_t place = 0; place < PyList_GET_SIZE(classes); place++)
        if (PyType_Check(PyList_GET_ITEM(classes, place)))
            let_free_in_turn((PyTypeObject *)PyList_GET_ITEM(classes, place));
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"free_in_turn", free_in_turn, METH_VARARGS, "Let nodes of classes be freed one after another."},
    {NULL}};

int add_freeing(PyObject *module) { return PyModule_AddFunctions(module, functions); }
