/* The walk before a pass: each node behind its roots gets its rule, is hooked, and learns who feeds it: see
 * `backward_graph.Walk`.
 */
#include "_adapter.h"

enum { MOST_KEPT = 1 << 16, LEAST = 64 };

/* Let a new rule be that of a leaf; 0 where that takes more. */
static int be_of_leaf(Rule *rule, PyObject *node, const Walk *walk)
{
    PyObject *leaf = PyObject_GetAttr(node, str_variable);
    Known *known = leaf == NULL ? NULL : known_at(walk->leaves.table, leaf);
    int found = known != NULL && referent(known->reference) == leaf && known->row >= walk->base;
    if (found) {
        rule->session = Py_NewRef(walk->session);
        rule->fields = Py_NewRef(walk->leaves.fields);
        rule->name = PyUnicode_FromString("");
        rule->forward = known->row;
        rule->since = INT64_MAX;
        rule->known = Py_NewRef((PyObject *)known);
    }
    Py_XDECREF(leaf);
    return found;
}

/* Let a new rule be that of one of several nodes of a call; 0 where that takes more. */
static int be_of_call(Rule *rule, PyObject *node, const Walk *walk, Rule *above)
{
    if (above == NULL)
        return 0;
    PyObject *sequence = PyObject_CallMethodNoArgs(node, str__sequence_nr);
    uint64_t order = sequence == NULL ? 0 : PyLong_AsUnsignedLongLong(sequence);
    Py_XDECREF(sequence);
    if (PyErr_Occurred() || above->since < 0 || order < (uint64_t)above->since)
        return 0;
    PyObject *raw = PyObject_CallMethodNoArgs(node, str_name);
    PyObject *name = raw == NULL ? NULL : PyDict_GetItemWithError(walk->leaves.names, raw);
    Py_XDECREF(raw);
    if (name == NULL)
        return 0;
    int is_first = above->main == NULL || above->main == Py_None;
    rule->session = Py_NewRef(walk->session);
    rule->fields = Py_NewRef(above->fields);
    rule->name = Py_NewRef(name);
    rule->main = Py_NewRef(is_first ? (PyObject *)above : above->main);
    rule->forward = above->forward;
    rule->since = above->since;
    return 1;
}

/* Whether a rule could be made part of the pass; one of another session or log is to be made anew. */
static int is_taken(const Walk *walk, PyObject *node, Rule *rule, Rule *above)
{
    if (rule->session == NULL) {
        int is_leaf = (PyObject *)Py_TYPE(node) == walk->leaves.node_class;
        if (!(is_leaf ? be_of_leaf(rule, node, walk) : be_of_call(rule, node, walk, above)))
            return 0;
    }
    if (rule->session != walk->session || !(rule->used || rule->forward >= walk->base))
        return 0;
    if (!is_nothing(rule->run) && rule->run != walk->run) /* of a pass that has not ended */
        return 0;
    rule->used = 1;
    make_ready(rule, walk->run);
    return 1;
}

/* Room for whom a walk meets, kept from pass to pass: programs go back through the same graph again and again. */
static struct {
    Met *met;
    Py_ssize_t *waiting, *places, room;
} spare;

/* Where the place of a node stands, or is to stand. */
static Py_ssize_t *place_of(const Walk *walk, const PyObject *node)
{
    size_t at = (uintptr_t)node >> 4 & (walk->size - 1);
    while (walk->places[at] && walk->met[walk->places[at] - 1].node != node)
        at = (at + 1) & (walk->size - 1);
    return &walk->places[at];
}

/* Have more room. */
static int grow(Walk *walk)
{
    if (walk->room == 0 && spare.room) {
        walk->met = spare.met;
        walk->waiting = spare.waiting;
        walk->places = spare.places;
        walk->room = spare.room;
        spare.room = 0;
        return 0;
    }
    Py_ssize_t room = walk->room ? 2 * walk->room : LEAST;
    Met *met = PyMem_Realloc(walk->met, room * sizeof *met);
    if (met != NULL)
        walk->met = met;
    Py_ssize_t *waiting = met == NULL ? NULL : PyMem_Realloc(walk->waiting, room * sizeof *waiting);
    if (waiting != NULL)
        walk->waiting = waiting;
    Py_ssize_t *places = waiting == NULL ? NULL : PyMem_Realloc(walk->places, 2 * room * sizeof *places);
    if (places == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    walk->places = places;
    walk->room = room;
    return 0;
}

/* Let the table of places be half full at most. */
static void widen(Walk *walk)
{
    walk->size = walk->size ? 2 * walk->size : 2 * LEAST;
    memset(walk->places, 0, walk->size * sizeof *walk->places);
    for (Py_ssize_t place = 0; place < walk->count; place++)
        *place_of(walk, walk->met[place].node) = place + 1;
}

Rule *rule_met(const Walk *walk, PyObject *node)
{
    Py_ssize_t place = walk->size ? *place_of(walk, node) : 0;
    return place ? walk->met[place - 1].rule : NULL;
}

/* Note that a node was met; the reference to its rule goes with it. */
static int note(Walk *walk, PyObject *node, Rule *rule)
{
    if (walk->count == walk->room && grow(walk) < 0) {
        Py_DECREF((PyObject *)rule);
        return -1;
    }
    if (walk->size == 2 * walk->count)
        widen(walk);
    *place_of(walk, node) = walk->count + 1;
    walk->waiting[walk->left++] = walk->count;
    walk->met[walk->count++] = (Met){Py_NewRef(node), rule};
    return 0;
}

/* The rule of a node in this pass, borrowed; NULL with an error set. `above` is NULL for a root. */
static Rule *meet(Walk *walk, PyObject *node, Rule *above)
{
    Rule *rule = rule_met(walk, node);
    if (rule != NULL) {
        rule->shared |= above == NULL || rule->sources.count > 0;
        return rule;
    }
    rule = rule_of(node);
    if (rule != NULL && !is_taken(walk, node, rule, above))
        Py_CLEAR(rule);
    if (rule == NULL || PyErr_Occurred()) {
        put_off();
        Py_XDECREF((PyObject *)rule);
        PyObject *guard = ask_torch(), *fed = above ? (PyObject *)above : Py_None;
        if (guard == NULL)
            return NULL;
        rule = (Rule *)PyObject_CallFunctionObjArgs(walk->make, walk->run, node, fed, NULL);
        done_asking(guard);
        if (rule == NULL)
            return NULL;
    }
    rule->shared = above == NULL;
    return note(walk, node, rule) < 0 ? NULL : rule;
}

/* Let those behind a node learn that it feeds them. */
static int look_behind(Walk *walk, const Met *met)
{
    Rule *rule = met->rule;
    PyObject *next = PyObject_GetAttr(met->node, str_next_functions);
    int64_t slot = 0;
    int failed = next == NULL || !PyTuple_Check(next);
    for (Py_ssize_t place = 0; !failed && place < PyTuple_GET_SIZE(next); place++, slot += (int64_t)1 << SLOT_SHIFT) {
        PyObject *target = PyTuple_GET_ITEM(PyTuple_GET_ITEM(next, place), 0);
        Rule *found = target == Py_None ? NULL : meet(walk, target, rule);
        failed = target != Py_None && (found == NULL || tie(&found->sources, rule, slot) < 0);
    }
    Py_XDECREF(next);
    return failed ? -1 : 0;
}

/* Hook the results of the nodes that feed one that others feed, too. */
static int watch(Walk *walk)
{
    int any = 0;
    for (Py_ssize_t place = 0; place < walk->count; place++) {
        Rule *target = walk->met[place].rule;
        if (!target->shared || !target->sources.count)
            continue; /* a root may be fed by nobody else */
        any = 1;
        Py_XSETREF(target->parts, PyList_New(0));
        if (target->parts == NULL)
            return -1;
        for (int32_t each = 0; each < target->sources.count; each++) {
            Tie *source = tie_at(&target->sources, each);
            if (tie(&source->rule->targets, target, source->number >> SLOT_SHIFT) < 0)
                return -1;
        }
    }
    for (Py_ssize_t place = 0; any && place < walk->count; place++) {
        Rule *rule = walk->met[place].rule;
        if (rule->watched || !rule->targets.count)
            continue;
        PyObject *handle = PyObject_CallMethodOneArg(walk->met[place].node, str_register_hook, (PyObject *)rule);
        if (handle == NULL)
            return -1;
        Py_DECREF(handle);
        rule->watched = 1;
    }
    return 0;
}

int walk_from(Walk *walk, PyObject *roots)
{
    int failed = 0;
    for (Py_ssize_t place = 0; !failed && place < PyList_GET_SIZE(roots); place++)
        failed = meet(walk, PyList_GET_ITEM(roots, place), NULL) == NULL;
    while (!failed && walk->left) {
        Met met = walk->met[walk->waiting[--walk->left]]; /* `met` may grow, and move */
        failed = look_behind(walk, &met) < 0;
    }
    if (failed || watch(walk) < 0) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_RuntimeError, "a backward node is not as it was");
        return -1;
    }
    return 0;
}

void leave_nodes(Walk *walk)
{
    for (Py_ssize_t place = 0; place < walk->count; place++)
        Py_CLEAR(walk->met[place].node);
}

void end_walk(Walk *walk)
{
    leave_nodes(walk);
    for (Py_ssize_t place = 0; place < walk->count; place++)
        Py_DECREF((PyObject *)walk->met[place].rule);
    walk->count = 0;
    if (walk->room <= spare.room || walk->room > MOST_KEPT) {
        PyMem_Free(walk->met);
        PyMem_Free(walk->waiting);
        PyMem_Free(walk->places);
        return;
    }
    if (spare.room) {
        PyMem_Free(spare.met);
        PyMem_Free(spare.waiting);
        PyMem_Free(spare.places);
    }
    spare.met = walk->met;
    spare.waiting = walk->waiting;
    spare.places = walk->places;
    spare.room = walk->room;
}

/* walk(roots, rules, run, session, base, make, leaves): give the roots of a pass and all behind them their rules. */
static PyObject *walk(PyObject *module, PyObject *args)
{
    PyObject *roots, *rules, *type, *error, *trace;
    Walk walk = {0};
    Leaves *leaves = &walk.leaves;
    if (!PyArg_ParseTuple(args, "O!O!OOLO(OO!OO!)", &PyList_Type, &roots, &PyDict_Type, &rules, &walk.run,
                          &walk.session, &walk.base, &walk.make, &leaves->node_class, table_type, &leaves->table,
                          &leaves->fields, &PyDict_Type, &leaves->names))
        return NULL;
    int failed = walk_from(&walk, roots) < 0;
    PyErr_Fetch(&type, &error, &trace);
    int lost = 0;
    for (Py_ssize_t place = 0; !lost && place < walk.count; place++)
        lost = PyDict_SetItem(rules, walk.met[place].node, (PyObject *)walk.met[place].rule) < 0;
    end_walk(&walk);
    if (failed)
        PyErr_Restore(type, error, trace);
    if (failed || lost)
        return NULL;
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"walk", walk, METH_VARARGS, "Give the roots of a pass and all behind them their rules."},
    {NULL}};

int add_walk(PyObject *module) { return PyModule_AddFunctions(module, functions); }
