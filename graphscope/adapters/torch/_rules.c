/* The backward half of the hot path: the walk that hooks the nodes of a pass, and what the hooks append.
 *
 * It does what `backward_graph.Walk` and `rules.Rule` do for nodes of the common kind, and calls them for every other.
 */
#include "_adapter.h"

const AppendAPI *appending;

enum { MOST_ORIGINS = 64 };

static int boxed_into(PyObject *list, int64_t value)
{
    PyObject *boxed = PyLong_FromLongLong(value);
    int failed = boxed == NULL || PyList_Append(list, boxed) < 0;
    Py_XDECREF(boxed);
    return failed ? -1 : 0;
}

/* Run -------------------------------------------------------------------------------------------------------------- */

#define PARTS(X) X(place) X(writer) X(append) X(creating) X(frame) X(rules) X(held) X(start) X(marks) X(timer)

HOLDS(Run, PARTS)

#define MEMBER(name) {#name, T_OBJECT, offsetof(Run, name), 0, NULL},
static PyMemberDef Run_members[] = {PARTS(MEMBER) {"opened", T_LONGLONG, offsetof(Run, opened), 0, NULL},
                                    {"began", T_LONGLONG, offsetof(Run, began), 0, NULL},
                                    {"event", T_ULONGLONG, offsetof(Run, event), 0, NULL},
                                    {NULL}};

static PyType_Slot Run_slots[] = {{Py_tp_doc, "A run of the engine, as far as hooks ask."},
                                  {Py_tp_new, PyType_GenericNew},
                                  {Py_tp_dealloc, Run_dealloc},
                                  {Py_tp_traverse, Run_traverse},
                                  {Py_tp_clear, Run_clear},
                                  {Py_tp_members, Run_members},
                                  {0, NULL}};

static PyType_Spec Run_spec = {"graphscope.adapters.torch._calls.Run", sizeof(Run), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, Run_slots};

int64_t turn(Run *run)
{
    if (run->timer != NULL && run->timer != Py_None) { /* of an accelerator: Python asks it */
        PyObject *told = PyObject_CallMethodNoArgs((PyObject *)run, str_turn);
        int64_t moment = told == NULL ? -1 : PyLong_AsLongLong(told);
        Py_XDECREF(told);
        if (moment >= 0)
            return moment;
        put_off();
        Py_CLEAR(run->timer);
    }
    int64_t row = run->opened, moment = row ? appending->finish(run->append, row, run->began) : now();
    uint64_t event = run->event;
    run->event = 0; /* other threads run while room is made for what is timed: it is to be given back once */
    run->opened = 0;
    run->began = moment;
    if (event && row)
        took_from(row, event, mark_here());
    else
        never_mind(event);
    return moment;
}

/* Whether a pass runs whose rows are of the common kind: nobody waits at the gate, and no node is made in it. */
static int runs_plainly(Run *run)
{
    return appending != NULL && Py_TYPE(run->append) == appending->appender &&
           PyObject_TypeCheck(run->place, place_type) &&
           (run->creating == NULL || run->creating == Py_None) && !((Place *)run->place)->busy &&
           is(run->writer, &slot_gate, Py_None) == 1;
}

/* Whether two are the same memory, and nothing has been written between. */
static int is_same(const Stretch *one, const Stretch *other)
{
    return one->address != NULL && one->address == other->address && one->nbytes == other->nbytes &&
           one->floating == other->floating && one->version == other->version && one->calls == other->calls;
}

static void forget(Stretch *stretch)
{
    PyObject *record = stretch->record;
    *stretch = (Stretch){0};
    Py_XDECREF(record);
}

/* Whether something is for the rows of passes of the thread whose pass runs; -1 for an error. */
static int is_for(const Run *run, PyObject *object)
{
    int64_t thread = number(object, &slot_thread);
    return thread < 0 ? -1 : thread == ((Place *)run->place)->thread;
}

/* The row of a value of the common kind; 0 where it is of another, negative where it was interrupted. `keeping` is a
 * site, or a list to find one in; `links` are the forward row and where it comes from.
 *
 * Nodes of views and sums hand on the memory that they were given: `before` is what was found of the cotangent of the
 * node that made the value. `found` (NULL: nobody asks) is left what was found of this one. */
static int64_t appended(Run *run, PyObject *keeping, PyObject *tensor, const int64_t links[1 + INLINE_INPUTS],
                        int turns, const Stretch *before, Stretch *found)
{
    Look seen;
    void *gathered = NULL;
    Site *site = NULL;
    if (!look(tensor, &seen))
        return 0;
    if (PyObject_TypeCheck(keeping, site_type))
        site = fits_seen((Site *)keeping, tensor, &seen) == 1 ? (Site *)keeping : NULL;
    else if (PyList_Check(keeping))
        for (Py_ssize_t place = 0; site == NULL && place < PyList_GET_SIZE(keeping); place++)
            if (fits_seen((Site *)PyList_GET_ITEM(keeping, place), tensor, &seen) == 1)
                site = (Site *)PyList_GET_ITEM(keeping, place);
    if (site == NULL)
        return 0;
    Place *place = (Place *)run->place;
    place->busy = 1; /* what is asked of the tensor is no call of the program's */
    Stretch here = stretch_of(site, tensor, &seen);
    PyObject *value = NULL;
    if (before != NULL && is_same(before, &here)) {
        here.finite = before->finite;
        value = site->summary ? Py_XNewRef(before->record) : NULL;
    }
    if (value == NULL)
        value = value_of(site, tensor, &seen, &gathered);
    Ahead ahead;
    int promised = value == NULL && can_promise(site, tensor, &seen, 1, &ahead);
    place->busy = 0;
    if (value == NULL && !promised)
        return 0;
    Moment moment = {turns ? turn(run) : now(), 0, links[0], links + 1, INLINE_INPUTS, -1, 0, &here.finite};
    int64_t row = promised ? appending->append(run->append, site->awaiting, Py_None, &moment)
                           : appending->append(run->append, site->template, value, &moment);
    if (promised)
        promise(&ahead, row);
    free(gathered);
    if (row > 0 && found != NULL && here.address != NULL) {
        forget(found);
        *found = here;
        found->record = site->summary ? Py_NewRef(value) : NULL;
    }
    Py_XDECREF(value);
    if (row < 0 && !is_interrupted()) {
        PyErr_Clear();
        row = 0;
    }
    return row;
}

/* Rule ------------------------------------------------------------------------------------------------------------- */

int tie(Ties *ties, Rule *rule, int64_t value)
{
    if (ties->count > ties->room) {
        int32_t room = ties->room ? 2 * ties->room : 2;
        Tie *more = realloc(ties->more, room * sizeof(Tie));
        if (more == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        ties->more = more;
        ties->room = room;
    }
    *tie_at(ties, ties->count++) = (Tie){(Rule *)Py_NewRef((PyObject *)rule), value};
    return 0;
}

static void untie(Ties *ties)
{
    Ties before = *ties;
    *ties = (Ties){{NULL, 0}, NULL, 0, 0};
    for (int32_t place = 0; place < before.count; place++)
        Py_DECREF((PyObject *)tie_at(&before, place)->rule);
    free(before.more);
}

static void Rule_dealloc(Rule *self)
{
    PyTypeObject *type = Py_TYPE(self);
    Py_CLEAR(self->session);
    Py_CLEAR(self->fields);
    Py_CLEAR(self->name);
    Py_CLEAR(self->main);
    Py_CLEAR(self->run);
    untie(&self->sources);
    untie(&self->targets);
    Py_CLEAR(self->parts);
    Py_CLEAR(self->known);
    forget(&self->stretch);
    Py_CLEAR(self->others);
    type->tp_free((PyObject *)self);
    Py_DECREF(type);
}

void make_ready(Rule *self, PyObject *run)
{
    Py_XSETREF(self->run, Py_NewRef(run));
    self->row = 0;
    self->shared = 0;
    untie(&self->sources);
    untie(&self->targets);
    Py_CLEAR(self->parts);
    forget(&self->stretch);
}

static PyObject *Rule_ready(Rule *self, PyObject *run)
{
    make_ready(self, run);
    Py_RETURN_NONE;
}

/* The pass that a rule is part of; NULL when it is part of none. */
static Run *run_of(Rule *self)
{
    return self->run != NULL && PyObject_TypeCheck(self->run, run_type) ? (Run *)self->run : NULL;
}

static inline Py_ssize_t length(PyObject *list) { return list == NULL || list == Py_None ? 0 : PyList_GET_SIZE(list); }

/* The row and slot that the only source of a cotangent is; 0 where a pass begins, -1 where that takes more. */
static int64_t only_source(Rule *self)
{
    if (self->sources.count == 0)
        return 0;
    Rule *source = self->sources.first.rule;
    if (self->sources.count > 1 || source->row == 0 || source->run != self->run)
        return -1;
    return source->row | self->sources.first.number;
}

/* The row that one belongs to: that of the call's own rule in this pass, or else the call's. */
static int64_t owner_of(Rule *self)
{
    Rule *main = self->main != NULL && PyObject_TypeCheck(self->main, rule_type) ? (Rule *)self->main : NULL;
    return main != NULL && main->run == self->run && main->row ? main->row : self->forward;
}

/* What was found of the cotangent of that source. */
static const Stretch *stretch_before(const Rule *self)
{
    const Rule *source = self->sources.count == 1 ? self->sources.first.rule : NULL;
    return source != NULL && source->run == self->run ? &source->stretch : NULL;
}

/* Append the row of a node whose cotangent has arrived whole; answers as `appended` does. */
static int64_t arrived(Rule *self, Run *run, PyObject *cotangent)
{
    int64_t links[1 + INLINE_INPUTS] = {owner_of(self)};
    Py_ssize_t parts = length(self->parts);
    int named = PyUnicode_GET_LENGTH(self->name) > 0;
    PyObject *keeping = NULL;
    const Stretch *before = NULL;
    if (!runs_plainly(run) || is_for(run, self->fields) != 1)
        return 0;
    if (self->parts != NULL && self->parts != Py_None) { /* a sum */
        if (parts < 2 || parts > INLINE_INPUTS || named)
            return 0;
        for (Py_ssize_t place = 0; place < parts; place++)
            links[1 + place] = PyLong_AsLongLong(PyList_GET_ITEM(self->parts, place));
        keeping = get(self->fields, parts == 2 ? &slot_pairs : &slot_triples);
    }
    else {
        links[1] = only_source(self);
        before = stretch_before(self);
        if (links[1] < 0 || (named && links[1] == 0))
            return 0;
        keeping = get(self->fields, named ? &slot_named : links[1] ? &slot_single : &slot_start);
        if (named && keeping != NULL)
            Py_SETREF(keeping, Py_XNewRef(PyDict_GetItemWithError(keeping, self->name)));
    }
    if (keeping == NULL)
        return 0;
    int64_t row = appended(run, keeping, cotangent, links, 1, before, &self->stretch);
    Py_DECREF(keeping);
    if (row > 0) {
        self->row = run->opened = row;
        ((Place *)run->place)->backward_row = row;
        run->event = lies_there(cotangent) ? mark_here() : 0;
    }
    return row;
}

/* How the slots of a node are kept whose cotangent comes of so many rows, borrowed; NULL where that is not known. */
static Site *site_of_slots(PyObject *known, PyObject *cotangents, int64_t count)
{
    Look seen;
    Py_ssize_t first = 0;
    while (first < PyTuple_GET_SIZE(cotangents) && PyTuple_GET_ITEM(cotangents, first) == Py_None)
        first++;
    if (first == PyTuple_GET_SIZE(cotangents) || !look(PyTuple_GET_ITEM(cotangents, first), &seen))
        return NULL;
    for (Py_ssize_t place = 0; place < PyList_GET_SIZE(known); place++) {
        Site *site = (Site *)PyList_GET_ITEM(known, place);
        if (site->count == count && site->slots != NULL && PyTuple_CheckExact(site->slots) &&
            PyTuple_GET_SIZE(site->slots) == PyTuple_GET_SIZE(cotangents) &&
            fits_seen(site, PyTuple_GET_ITEM(cotangents, first), &seen) == 1)
            return site;
    }
    return NULL;
}

/* The rows that a cotangent came from, with their slots; how many, or -1 where they are more than there is room for. */
static int origins(Rule *self, int64_t rows[MOST_ORIGINS])
{
    int count = 0;
    if (!is_nothing(self->parts)) {
        if (PyList_GET_SIZE(self->parts) > MOST_ORIGINS)
            return -1;
        for (Py_ssize_t place = 0; place < PyList_GET_SIZE(self->parts); place++)
            rows[count++] = PyLong_AsLongLong(PyList_GET_ITEM(self->parts, place));
        return count;
    }
    for (int32_t place = 0; place < self->sources.count; place++) {
        Tie *each = tie_at(&self->sources, place);
        if (each->rule->run != self->run || !each->rule->row)
            continue;
        if (count == MOST_ORIGINS)
            return -1;
        rows[count++] = each->rule->row | each->number;
    }
    return count;
}

/* Append the row of a node with several slots, as `appended` answers: see `slots.append`. */
static int64_t arrived_in_slots(Rule *self, Run *run, PyObject *cotangents)
{
    int64_t rows[MOST_ORIGINS], row = 0;
    int count = origins(self, rows);
    if (count < 0 || PyUnicode_GET_LENGTH(self->name) > 0 || !runs_plainly(run) || is_for(run, self->fields) != 1 ||
        !(is(self->session, &slot_remote, Py_False) == 1 || promises_go_on()))
        return 0;
    PyObject *known = get(self->fields, &slot_several);
    Site *site = known == NULL || !PyList_CheckExact(known) ? NULL : site_of_slots(known, cotangents, count);
    if (site != NULL) {
        Place *place = (Place *)run->place;
        place->busy = 1; /* what is asked of the tensors is no call of the program's */
        Moment moment = {turn(run), 0, owner_of(self), rows, count, -1, 0};
        row = append_in_slots(run->append, site->template, site->slots, PySequence_Fast_ITEMS(cotangents), &moment);
        place->busy = 0;
        if (row > 0) {
            self->row = run->opened = place->backward_row = row;
            for (Py_ssize_t slot = 0; !run->event && slot < PyTuple_GET_SIZE(cotangents); slot++)
                run->event = lies_there(PyTuple_GET_ITEM(cotangents, slot)) ? mark_here() : 0;
        }
    }
    Py_XDECREF(known);
    return row > 0 ? row : 0;
}

static PyObject *no_function;   /* torch._C.DisableTorchFunction */
static PyObject *has_functions; /* torch._C._has_torch_function_unary */

int is_overridden(PyObject *tensor)
{
    PyObject *asked = has_functions;
    PyObject *answer = PyCFunction_Check(asked) && PyCFunction_GET_FLAGS(asked) == METH_O
                           ? PyCFunction_GET_FUNCTION(asked)(PyCFunction_GET_SELF(asked), tensor)
                           : PyObject_CallOneArg(asked, tensor);
    Py_XDECREF(answer);
    return answer == NULL ? -1 : answer == Py_True;
}

PyObject *ask_torch(void)
{
    PyObject *guard = PyObject_CallNoArgs(no_function);
    PyObject *inside = guard == NULL ? NULL : PyObject_CallMethodNoArgs(guard, str___enter__);
    if (inside == NULL)
        Py_CLEAR(guard);
    Py_XDECREF(inside);
    return guard;
}

void done_asking(PyObject *guard)
{
    PyObject *type, *error, *trace, *nothing[4] = {guard, Py_None, Py_None, Py_None};
    PyErr_Fetch(&type, &error, &trace);
    PyObject *outside = PyObject_VectorcallMethod(str___exit__, nothing, 4, NULL);
    Py_XDECREF(outside);
    Py_DECREF(guard);
    PyErr_Restore(type, error, trace);
}

int is_of_torch(PyObject *tensor, int question, PyObject *wanted)
{
    PyObject *guard = ask_torch();
    if (guard == NULL)
        return -1;
    int found = is_answer(tensor, question, wanted);
    done_asking(guard);
    return found;
}

/* Append the row of a contribution to the gradient of a leaf; 0 where that takes more, -1 for an error. */
static int64_t leaf_received(Rule *self, Run *run, PyObject *result, int64_t origin, const Stretch *before)
{
    Known *known = (Known *)self->known;
    if (origin <= 0 || !PyObject_TypeCheck(self->known, known_type) || known->more == NULL || known->more == Py_None ||
        known->row < number(run->writer, &slot_low))
        return 0;
    PyObject *leaf = Py_NewRef(referent(known->reference)), *more = Py_NewRef(known->more);
    PyObject *arrivals = leaf == Py_None ? NULL : get(more, &slot_arrivals), *keeping = NULL;
    int64_t row = 0;
    if (arrivals == NULL || arrivals == Py_None || is_for(run, arrivals) != 1)
        goto leave;
    int zeroed = is(more, &slot_zeroed, Py_True);
    int fresh = length(self->parts) == 0 && (zeroed == 1 || is_of_torch(leaf, GRAD, Py_None) == 1);
    if ((keeping = get(arrivals, fresh ? &slot_fresh : &slot_added)) == NULL)
        goto leave;
    int64_t links[1 + INLINE_INPUTS] = {known->row & ROW_MASK, origin};
    row = appended(run, keeping, result, links, 0, before, NULL);
    if (row <= 0)
        goto leave;
    if ((zeroed == 1 && set(more, &slot_zeroed, Py_False) < 0) || set_number(more, &slot_accumulated, row) < 0 ||
        (self->parts != NULL && self->parts != Py_None && boxed_into(self->parts, row) < 0))
        row = -1;
leave:
    Py_DECREF(leaf);
    Py_DECREF(more);
    Py_XDECREF(arrivals);
    Py_XDECREF(keeping);
    return row;
}

/* Append the row of one of several contributions to a cotangent; 0 where that takes more, -1 for an error. */
static int64_t received(Rule *self, Run *run, PyObject *result, int64_t origin, const Stretch *before)
{
    if (self->known != NULL && self->known != Py_None)
        return leaf_received(self, run, result, origin, before);
    if (origin <= 0 || self->parts == NULL || !PyList_Check(self->parts) || is_for(run, self->fields) != 1)
        return 0;
    PyObject *keeping = get(self->fields, &slot_part);
    PyObject *parts = Py_NewRef(self->parts); /* other threads run, and may begin a pass through the same nodes */
    int64_t links[1 + INLINE_INPUTS] = {self->forward, origin};
    int64_t row = keeping == NULL ? 0 : appended(run, keeping, result, links, 0, before, NULL);
    if (row > 0 && boxed_into(parts, row) < 0)
        row = -1;
    Py_DECREF(parts);
    Py_XDECREF(keeping);
    return row;
}

/* The hook before a node: its cotangents have arrived. */
static PyObject *before(Rule *self, Run *run, PyObject *cotangents)
{
    if (PyTuple_Check(cotangents) && PyTuple_GET_SIZE(cotangents) > 1 && is_nothing(self->known)) {
        if (arrived_in_slots(self, run, cotangents) > 0)
            Py_RETURN_NONE;
        put_off();
    }
    else if (PyTuple_Check(cotangents) && PyTuple_GET_SIZE(cotangents) == 1) {
        PyObject *cotangent = PyTuple_GET_ITEM(cotangents, 0);
        int64_t row = 0;
        if (self->known == NULL || self->known == Py_None)
            row = arrived(self, run, cotangent);
        else if (cotangent != Py_None && runs_plainly(run)) {
            int64_t origin = self->parts == NULL || self->parts == Py_None ? only_source(self) : 0;
            if (length(self->parts))
                row = 1; /* each contribution has a row already */
            else if (origin > 0)
                row = leaf_received(self, run, cotangent, origin, stretch_before(self));
            if (row > 0)
                turn(run);
        }
        if (row > 0)
            Py_RETURN_NONE;
        if (is_interrupted())
            return NULL;
        PyErr_Clear();
    }
    return PyObject_CallMethodObjArgs((PyObject *)self, str_before, cotangents, NULL);
}

/* The hook after a node: what it made for cotangents that others feed, too. */
static PyObject *after(Rule *self, Run *run, PyObject *results, PyObject *cotangents)
{
    if (!PyTuple_Check(results) || !runs_plainly(run) || !self->row) {
        PyErr_Clear();
        return PyObject_CallMethodObjArgs((PyObject *)self, str_after, results, cotangents, NULL);
    }
    for (int32_t place = 0; place < self->targets.count; place++) {
        int64_t index = tie_at(&self->targets, place)->number;
        Rule *target = tie_at(&self->targets, place)->rule;
        PyObject *result = index < PyTuple_GET_SIZE(results) ? PyTuple_GET_ITEM(results, index) : Py_None;
        int64_t origin = self->row | index << SLOT_SHIFT;
        if (result == Py_None)
            continue;
        Py_INCREF(target);
        int64_t row = received(target, run, result, origin, &self->stretch);
        PyObject *told = NULL;
        if (row > 0)
            told = Py_NewRef(Py_None);
        else if (!is_interrupted()) {
            PyErr_Clear();
            PyObject *boxed = PyLong_FromLongLong(origin);
            told = PyObject_CallMethodObjArgs((PyObject *)target, str_receive, result, boxed, (PyObject *)run, NULL);
            Py_XDECREF(boxed);
        }
        Py_DECREF(target);
        if (told == NULL)
            return NULL;
        Py_DECREF(told);
    }
    PyErr_Clear();
    Py_RETURN_NONE;
}

/* Whether a thread of the engine's own runs the pass, as one does for each accelerator. */
static int is_elsewhere(const Run *run)
{
    return PyObject_TypeCheck(run->place, place_type) &&
           ((Place *)run->place)->thread_id != PyThread_get_thread_ident();
}

/* What runs in this thread is part of the pass. */
static int enter(Run *run)
{
    PyObject *told = PyObject_CallMethodNoArgs(run->place, str_enter);
    Py_XDECREF(told);
    return told == NULL ? -1 : 0;
}

/* Be either hook, by the number of arguments. */
static PyObject *call_in_pass(Rule *self, PyObject *args)
{
    Run *run = run_of(self);
    Py_ssize_t count = PyTuple_GET_SIZE(args);
    if (run == NULL || count < 1 || count > 2)
        Py_RETURN_NONE;
    Py_INCREF(run); /* the pass may end meanwhile */
    ask_again();
    if (is_elsewhere(run) && enter(run) < 0) {
        Py_DECREF(run);
        return NULL;
    }
    PyObject *answer = count == 1 ? before(self, run, PyTuple_GET_ITEM(args, 0))
                                  : after(self, run, PyTuple_GET_ITEM(args, 0), PyTuple_GET_ITEM(args, 1));
    Py_DECREF(run);
    return answer;
}

/* Where several passes went through a node at once, the rule of the one that runs it now: see `rules.Rule.due`. */
static PyObject *call_due(Rule *self, PyObject *args)
{
    PyObject *due = PyObject_CallMethodNoArgs((PyObject *)self, str_due);
    PyObject *answer = due == NULL || due == Py_None ? Py_XNewRef(due) : call_in_pass((Rule *)due, args);
    Py_XDECREF(due);
    return answer;
}

/* Called with the cotangents before its node, with the results and the cotangents after it. */
static PyObject *Rule_call(Rule *self, PyObject *args, PyObject *names)
{
    return is_nothing(self->others) ? call_in_pass(self, args) : call_due(self, args);
}

/* The ties as a list of pairs. */
static PyObject *listed(Ties *ties, int number_first)
{
    PyObject *list = PyList_New(0);
    for (int32_t place = 0; list != NULL && place < ties->count; place++) {
        Tie *each = tie_at(ties, place);
        PyObject *pair = number_first ? Py_BuildValue("LO", (long long)each->number, (PyObject *)each->rule)
                                      : Py_BuildValue("OL", (PyObject *)each->rule, (long long)each->number);
        if (pair == NULL || PyList_Append(list, pair) < 0)
            Py_CLEAR(list);
        Py_XDECREF(pair);
    }
    return list;
}

static PyObject *Rule_sources(Rule *self, void *closure) { return listed(&self->sources, 0); }

static PyObject *Rule_targets(Rule *self, void *closure) { return listed(&self->targets, 1); }

static PyGetSetDef Rule_getset[] = {{"sources", (getter)Rule_sources, NULL, NULL, NULL},
                                    {"targets", (getter)Rule_targets, NULL, NULL, NULL},
                                    {NULL}};

#define HELD(name) {#name, T_OBJECT, offsetof(Rule, name), 0, NULL}
static PyMemberDef Rule_members[] = {HELD(session),
                                     HELD(fields),
                                     HELD(name),
                                     HELD(main),
                                     HELD(run),
                                     HELD(parts),
                                     HELD(known),
                                     HELD(others),
                                     {"forward", T_LONGLONG, offsetof(Rule, forward), 0, NULL},
                                     {"since", T_LONGLONG, offsetof(Rule, since), 0, NULL},
                                     {"row", T_LONGLONG, offsetof(Rule, row), 0, NULL},
                                     {"used", T_BOOL, offsetof(Rule, used), 0, NULL},
                                     {"watched", T_BOOL, offsetof(Rule, watched), 0, NULL},
                                     {NULL}};

static PyMethodDef Rule_methods[] = {
    {"ready", (PyCFunction)Rule_ready, METH_O, "Be part of a pass, or of none."},
    {NULL}};

static PyType_Slot Rule_slots[] = {{Py_tp_doc, "A backward node, as far as its hooks ask; calling it is either hook."},
                                   {Py_tp_new, PyType_GenericNew},
                                   {Py_tp_dealloc, Rule_dealloc},
                                   {Py_tp_call, Rule_call},
                                   {Py_tp_members, Rule_members},
                                   {Py_tp_methods, Rule_methods},
                                   {Py_tp_getset, Rule_getset},
                                   {0, NULL}};

static PyType_Spec Rule_spec = {"graphscope.adapters.torch._calls.Rule", sizeof(Rule), 0,
                                Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, Rule_slots};

/* settle(rules, run): the pass is over; its rules hold nothing of it any more. */
static PyObject *settle(PyObject *module, PyObject *args)
{
    PyObject *rules, *run;
    if (!PyArg_ParseTuple(args, "O!O", &PyList_Type, &rules, &run))
        return NULL;
    for (Py_ssize_t place = 0; place < PyList_GET_SIZE(rules); place++)
        if (PyObject_TypeCheck(PyList_GET_ITEM(rules, place), rule_type))
            settle_rule((Rule *)PyList_GET_ITEM(rules, place), run);
    Py_RETURN_NONE;
}

/* Hooks ------------------------------------------------------------------------------------------------------------ */

/* The hooks of a node, as torch keeps them, among them ours. Those of a program may stand there, too: a handle that
 * removes one refers weakly to them all. Ours is the last: what the others change has been changed when it is called. */
typedef struct {
    PyDictObject dict;
    PyObject *references, *rule;
} Hooks;

static PyTypeObject *hooks_type;
static PyObject *our_key, *nothing;

static void Hooks_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    if (((Hooks *)self)->references != NULL)
        PyObject_ClearWeakRefs(self);
    Py_CLEAR(((Hooks *)self)->rule);
    PyDict_Type.tp_dealloc(self);
    Py_DECREF(type);
}

static PyMemberDef Hooks_members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Hooks, references), READONLY, NULL}, {NULL}};

static PyType_Slot Hooks_slots[] = {{Py_tp_doc, "The hooks of a node, among them ours."},
                                    {Py_tp_dealloc, Hooks_dealloc},
                                    {Py_tp_members, Hooks_members},
                                    {0, NULL}};

static PyType_Spec Hooks_spec = {"graphscope.adapters.torch._calls.Hooks", sizeof(Hooks), 0, Py_TPFLAGS_DEFAULT,
                                 Hooks_slots};

static PyObject *new_hooks(void)
{
    PyObject *hooks = PyDict_Type.tp_new(hooks_type, nothing, NULL);
    if (hooks != NULL)
        PyObject_GC_UnTrack(hooks); /* until a program puts its own there */
    return hooks;
}

/* Let a rule stand last among hooks. */
static int put_last(PyObject *hooks, PyObject *rule)
{
    if (Py_IS_TYPE(hooks, hooks_type)) {
        Py_XSETREF(((Hooks *)hooks)->rule, Py_NewRef(rule));
        if (PyDict_GET_SIZE(hooks) == 0)
            return PyDict_SetItem(hooks, our_key, rule);
    }
    int known = PyDict_Contains(hooks, our_key);
    return known < 0 || (known && PyObject_DelItem(hooks, our_key) < 0) ? -1 : PyObject_SetItem(hooks, our_key, rule);
}

/* What torch keeps the hooks of a node by. It asks `autograd.Function` for that, hook by hook, with letters of which it
 * makes a string each time: an attribute of that class's own class that can be set is found first, without a look at
 * all the classes that it stems from. */
typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    PyObject *original;
} Keeper;

#define KEEPER_PARTS(X) X(original)
HOLDS(Keeper, KEEPER_PARTS)

/* Keep a rule, and hand it back where torch looks for a handle. The class of rules asks for the one that is there. */
static PyObject *kept(PyObject *given, PyObject *asked)
{
    if (asked == (PyObject *)rule_type && Py_IS_TYPE(given, hooks_type) && PyDict_GET_SIZE(given) == 1)
        return PyTuple_Pack(2, given, ((Hooks *)given)->rule);
    PyObject *hooks = given == Py_None ? new_hooks() : Py_NewRef(given), *rule = NULL, *made = NULL;
    if (hooks == NULL)
        return NULL;
    if (asked != (PyObject *)rule_type)
        rule = Py_NewRef(asked);
    else if ((rule = Py_XNewRef(PyDict_GetItemWithError(hooks, our_key))) == NULL && !PyErr_Occurred())
        rule = rule_type->tp_alloc(rule_type, 0);
    if (rule != NULL && put_last(hooks, rule) == 0)
        made = PyTuple_Pack(2, hooks, rule);
    Py_XDECREF(hooks);
    Py_XDECREF(rule);
    return made;
}

/* keeper(hooks, hook): keep a hook of ours without the handle that torch makes to remove one. */
static PyObject *Keeper_call(PyObject *self, PyObject *const *args, size_t flags, PyObject *names)
{
    if (names == NULL && PyVectorcall_NARGS(flags) == 2 && (args[0] == Py_None || PyDict_Check(args[0])) &&
        (args[1] == (PyObject *)rule_type || PyObject_TypeCheck(args[1], rule_type)))
        return kept(args[0], args[1]);
    return PyObject_Vectorcall(((Keeper *)self)->original, args, flags, names);
}

Rule *rule_of(PyObject *node)
{
    let_free_in_turn(Py_TYPE(node)); /* torch makes one of its classes when it is needed */
    PyObject *found = PyObject_CallMethodOneArg(node, str_register_prehook, (PyObject *)rule_type);
    if (found != NULL && !PyObject_TypeCheck(found, rule_type)) { /* the recording has ended meanwhile */
        PyObject *removed = PyObject_CallMethodNoArgs(found, str_remove); /* else the class would be called for a hook */
        Py_XDECREF(removed);
        PyErr_SetString(PyExc_RuntimeError, "a backward node keeps its hooks in another way");
        Py_CLEAR(found);
    }
    return (Rule *)found;
}

int give_rule(PyObject *node, PyObject *rule)
{
    let_free_in_turn(Py_TYPE(node));
    PyObject *handle = PyObject_CallMethodOneArg(node, str_register_prehook, rule);
    Py_XDECREF(handle);
    return handle == NULL ? -1 : 0;
}

static PyObject *Keeper_get(PyObject *self, PyObject *object, PyObject *owner) { return Py_NewRef(self); }

static int Keeper_set(PyObject *self, PyObject *object, PyObject *value)
{
    PyErr_SetString(PyExc_AttributeError, "what keeps hooks can't be set while a program is recorded");
    return -1;
}

static PyMemberDef Keeper_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Keeper, vectorcall), READONLY, NULL}, {NULL}};

static PyType_Slot Keeper_slots[] = {{Py_tp_doc, "What torch keeps the hooks of a node by."},
                                     {Py_tp_call, PyVectorcall_Call},
                                     {Py_tp_descr_get, Keeper_get},
                                     {Py_tp_descr_set, Keeper_set},
                                     {Py_tp_dealloc, Keeper_dealloc},
                                     {Py_tp_traverse, Keeper_traverse},
                                     {Py_tp_clear, Keeper_clear},
                                     {Py_tp_members, Keeper_members},
                                     {0, NULL}};

static PyType_Spec Keeper_spec = {"graphscope.adapters.torch._calls.Keeper", sizeof(Keeper), 0,
                                  Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
                                      Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                  Keeper_slots};

static PyTypeObject *keeper_type;

/* light_hooks(original): what keeps hooks of ours, and leaves to `original` all others. */
static PyObject *light_hooks(PyObject *module, PyObject *original)
{
    Keeper *self = (Keeper *)keeper_type->tp_alloc(keeper_type, 0);
    if (self != NULL) {
        self->vectorcall = Keeper_call;
        self->original = Py_NewRef(original);
    }
    return (PyObject *)self;
}

/* adopt(DisableTorchFunction, has_torch_function_unary): what of torch is used here. */
static PyObject *adopt(PyObject *module, PyObject *args)
{
    PyObject *guard, *asked;
    if (!PyArg_ParseTuple(args, "OO", &guard, &asked))
        return NULL;
    Py_XSETREF(no_function, Py_NewRef(guard));
    Py_XSETREF(has_functions, Py_NewRef(asked));
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"settle", settle, METH_VARARGS, "Let rules hold nothing of a pass that is over."},
    {"light_hooks", light_hooks, METH_O, "How torch is to keep hooks of ours."},
    {"adopt", adopt, METH_VARARGS, "What of torch is used here."},
    {NULL}};

int add_rules(PyObject *module)
{
    appending = (const AppendAPI *)PyCapsule_Import(GRAPHSCOPE_APPEND, 0);
    if (appending == NULL)
        PyErr_Clear();
    PyObject *rule = PyType_FromSpec(&Rule_spec), *run = PyType_FromSpec(&Run_spec);
    keeper_type = (PyTypeObject *)PyType_FromSpec(&Keeper_spec);
    hooks_type = (PyTypeObject *)PyType_FromSpecWithBases(&Hooks_spec, (PyObject *)&PyDict_Type);
    our_key = PyUnicode_InternFromString("graphscope");
    nothing = PyTuple_New(0);
    if (keeper_type == NULL || hooks_type == NULL || our_key == NULL || nothing == NULL || rule == NULL || run == NULL || PyModule_AddObjectRef(module, "Rule", rule) < 0 ||
        PyModule_AddObjectRef(module, "Run", run) < 0 ||
        PyModule_AddObjectRef(module, "Hooks", (PyObject *)hooks_type) < 0)
        return -1;
    rule_type = (PyTypeObject *)rule;
    run_type = (PyTypeObject *)run;
    return PyModule_AddFunctions(module, functions);
}
