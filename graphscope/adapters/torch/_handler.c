/* The hot path of recording PyTorch, compiled: a call whose arguments are known tensors and constants, at a call site
 * that is known, with one new tensor for a result. It does what `Calls.__torch_function__` does, and leaves every other
 * case to it. Python is the specification: everything works without this module, and the same rows are written.
 *
 * Nothing here is linked with torch: its objects are asked by their attributes, as Python does.
 */
#include "_handler.h"

static PyObject *empty; /* the name of a node that is its call's own */
int64_t calls_made;

/* Whether a code is torch's or ours; -1 where nobody knows yet. */
static inline int is_inside(Frames *frames, PyCodeObject *code)
{
    int place = (uintptr_t)code / sizeof(PyCodeObject) % CODES;
    if (is_reference_to(frames->codes[place].code, (PyObject *)code))
        return frames->codes[place].inside;
    PyObject *inside = by_address(frames->inside, code);
    if (inside != Py_True && inside != Py_False)
        return -1;
    PyObject *reference = PyWeakref_NewRef((PyObject *)code, NULL);
    if (reference == NULL)
        return -1;
    Py_XSETREF(frames->codes[place].code, reference);
    return frames->codes[place].inside = inside == Py_True;
}

void forget_frames(Frames *frames)
{
    for (int place = 0; place < CODES; place++)
        Py_CLEAR(frames->codes[place].code);
}

PyFrameObject *program_frame(Frames *frames)
{
    PyFrameObject *frame = PyEval_GetFrame();
    Py_XINCREF(frame);
    while (frame != NULL) {
        PyCodeObject *code = PyFrame_GetCode(frame);
        int inside = is_inside(frames, code);
        Py_DECREF(code);
        if (inside == 0)
            return frame;
        PyFrameObject *outer = inside > 0 ? PyFrame_GetBack(frame) : NULL;
        Py_DECREF(frame);
        frame = outer;
    }
    return NULL;
}

/* Whether torch is at work on a module that is not called: see `Frames.prepares`; -1 where it is not known. */
static int prepares(Handler *self)
{
    PyFrameObject *frame = PyEval_GetFrame();
    Py_XINCREF(frame);
    int found = 0;
    while (frame != NULL && !found) {
        PyCodeObject *code = PyFrame_GetCode(frame);
        if (is_inside(&self->frames, code) == 1)
            found = PySet_Contains(self->preparing, code->co_name);
        else
            Py_CLEAR(frame);
        Py_DECREF(code);
        if (frame != NULL)
            Py_SETREF(frame, PyFrame_GetBack(frame));
    }
    Py_XDECREF(frame);
    return found;
}

/* The row of an argument that is a tensor, as it is now; -1 where that takes more than a look. */
static int64_t row_of(Handler *self, PyObject *tensor, int64_t low)
{
    Known *known = known_at((Table *)self->table, tensor);
    if (known == NULL || referent(known->reference) != tensor || known->row < low)
        return -1;
    if (known->group != NULL && known->group != Py_None && number(known->group, &slot_turn) != known->seen)
        return -1;
    if (version_of(tensor) != known->counter) {
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
    int same = is_of_torch(result, DTYPE, site->dtype);
    if (same == 1)
        site->seen = dtype_of(seen);
    return same;
}

/* The same of a tensor that has to be asked. */
static int fits_asked(Site *site, PyObject *result)
{
    int same = is_answer(result, DTYPE, site->dtype);
    PyObject *shape = same <= 0 ? NULL : ask(result, SHAPE);
    if (shape == NULL)
        return same <= 0 ? same : -1;
    same = same_shape(shape, site->shape);
    Py_DECREF(shape);
    return same;
}

/* The numbers of a call that are compared with those of a call site. */
typedef struct {
    int64_t varying; /* as of the site */
    int met;
    Given *given;
} Numbers;

/* Whether a number is the one of a call site, or one that varies there: then it is noted. */
static int is_same_number(PyObject *value, PyObject *known, Numbers *numbers)
{
    int overflow = 0, varies = numbers->met < 63 && numbers->varying >> numbers->met & 1;
    int64_t one = 0, other = 0;
    if (PyFloat_CheckExact(value)) {
        double first = PyFloat_AS_DOUBLE(value), second = PyFloat_AS_DOUBLE(known);
        memcpy(&one, &first, sizeof one);
        memcpy(&other, &second, sizeof other);
    }
    else {
        one = PyLong_AsLongLongAndOverflow(value, &overflow);
        if (overflow || (!varies && (other = PyLong_AsLongLongAndOverflow(known, &overflow), overflow)))
            return !varies && PyObject_RichCompareBool(value, known, Py_EQ) == 1;
    }
    numbers->met++;
    if (!varies)
        return one == other;
    if (numbers->given->varying == MOST_VARYING)
        return 0;
    numbers->given->rows[numbers->given->count + numbers->given->varying++] = one;
    return 1;
}

/* Whether a constant is the one of a call site, but for numbers that vary there. */
static int is_same(PyObject *value, PyObject *known, Numbers *numbers)
{
    if (Py_TYPE(value) != Py_TYPE(known))
        return 0;
    if (PyFloat_CheckExact(value) || PyLong_CheckExact(value))
        return is_same_number(value, known, numbers);
    if (PyTuple_Check(value)) {
        int same = PyTuple_GET_SIZE(value) == PyTuple_GET_SIZE(known);
        for (Py_ssize_t place = 0; same && place < PyTuple_GET_SIZE(value); place++)
            same = is_same(PyTuple_GET_ITEM(value, place), PyTuple_GET_ITEM(known, place), numbers);
        return same;
    }
    if (PySlice_Check(value)) {
        PySliceObject *one = (PySliceObject *)value, *other = (PySliceObject *)known;
        return is_same(one->start, other->start, numbers) && is_same(one->stop, other->stop, numbers) &&
               is_same(one->step, other->step, numbers);
    }
    return value == known || PyObject_RichCompareBool(value, known, Py_EQ) == 1;
}

int has_constants(const Site *site, PyObject *known, Given *given)
{
    PyObject *constants = given->constants;
    Numbers numbers = {site->varying, 0, given};
    given->varying = 0;
    if (site->varying < 0 || !PyList_CheckExact(known))
        return 0;
    Py_ssize_t count = constants == NULL ? 0 : PyList_GET_SIZE(constants);
    if (PyList_GET_SIZE(known) != count)
        return 0;
    for (Py_ssize_t place = 0; place < count; place += 2) {
        PyObject *one = PyList_GET_ITEM(constants, place), *other = PyList_GET_ITEM(known, place);
        if (one != other && PyObject_RichCompareBool(one, other, Py_EQ) != 1)
            return 0;
        if (!is_same(PyList_GET_ITEM(constants, place + 1), PyList_GET_ITEM(known, place + 1), &numbers))
            return 0;
    }
    return 1;
}

/* Whether the template of a site is for such a result; -1 for an error. `node` is its backward node, or None. */
static int fits(Site *site, PyObject *result, PyObject *node, const Look *seen, Given *given)
{
    if (site->count != given->count || site->template == NULL || site->shape == NULL || site->constants == NULL)
        return 0;
    int same = seen == NULL ? fits_asked(site, result) : fits_seen(site, result, seen);
    if (same > 0 && (node == Py_None || !site->requires_grad)) { /* what has a node requires gradients */
        PyObject *requires = ask(result, REQUIRES_GRAD);
        same = requires == NULL ? -1 : requires == (site->requires_grad ? Py_True : Py_False);
        Py_XDECREF(requires);
    }
    if (same <= 0)
        return same;
    return has_constants(site, site->constants, given);
}

/* The address of the elements of a tensor that lie in one row in memory, as a new reference; NULL without an error
 * where they do not. */
static PyObject *address_of(PyObject *tensor)
{
    if (are_storages_asked() || is_answer(tensor, IS_CPU, Py_True) != 1 || is_answer(tensor, IS_NESTED, Py_False) != 1)
        return NULL;
    if (is_answer(tensor, IS_CONTIGUOUS, Py_True) != 1)
        return NULL;
    if (is_answer(tensor, IS_ZEROS, Py_False) != 1 || is_answer(tensor, IS_NEG, Py_False) != 1 || is_answer(tensor, IS_CONJ, Py_False) != 1) /* others lie there */
        return NULL;
    PyObject *address = ask(tensor, DATA_PTR);
    if (address != NULL && PyLong_AsUnsignedLongLong(address) >= HIGH)
        return address;
    Py_XDECREF(address);
    return NULL;
}

/* Be one of those that share memory. */
static int join(Known *known, PyObject *group)
{
    if (known->group == group)
        return 0;
    int64_t turn = number(group, &slot_turn);
    if (turn < 0)
        return -1;
    Py_XSETREF(known->group, Py_NewRef(group));
    known->seen = turn;
    return 0;
}

/* Note that a new tensor is a view of a known one; -1 where that takes more. */
static int share(Handler *self, Known *known, PyObject *result, PyObject *base)
{
    Known *owner = known_at((Table *)self->table, base);
    if (owner == NULL || referent(owner->reference) != base || owner == known)
        return -1;
    int64_t counter = version_of(result);
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
    Rule *rule = (Rule *)rule_type->tp_alloc(rule_type, 0);
    if (rule == NULL)
        return NULL;
    rule->session = Py_NewRef(self->session);
    rule->fields = Py_NewRef(fields);
    rule->name = Py_NewRef(empty);
    rule->forward = row;
    rule->since = since;
    return (PyObject *)rule;
}

/* What a function says that takes no arguments. */
static PyObject *answer_of(PyObject *asked)
{
    return PyCFunction_Check(asked) && PyCFunction_GET_FLAGS(asked) == METH_NOARGS
               ? PyCFunction_GET_FUNCTION(asked)(PyCFunction_GET_SELF(asked), NULL)
               : PyObject_CallNoArgs(asked);
}

/* Whether gradients are on; -1 for an error. */
static int is_grad_enabled(Handler *self)
{
    PyObject *enabled = answer_of(self->grad_enabled);
    Py_XDECREF(enabled);
    return enabled == NULL ? -1 : enabled == Py_True;
}

Site *site_at(Handler *self, PyObject *call, PyFrameObject *frame)
{
    PyObject *context = ((Place *)self->place)->context;
    int enabled = is_grad_enabled(self);
    PyObject *sites = context == NULL || enabled < 0
                          ? NULL
                          : get(context, enabled ? &slot_sites : &slot_sites_without_grad);
    if (sites == NULL)
        return NULL;
    PyCodeObject *code = PyFrame_GetCode(frame);
    PyObject *key = PyLong_FromLongLong((int64_t)(uintptr_t)code + PyFrame_GetLasti(frame) + ((Call *)call)->key);
    Py_DECREF(code);
    PyObject *site = key == NULL ? NULL : PyDict_GetItemWithError(sites, key);
    Py_XINCREF(site);
    Py_XDECREF(key);
    Py_DECREF(sites);
    if (site != NULL &&
        !(PyObject_TypeCheck(site, site_type) && is_reference_to(((Site *)site)->code, (PyObject *)code)))
        Py_CLEAR(site);
    return (Site *)site;
}

Site *next_site(Site *site, int tried)
{
    put_off(); /* constants that can't be compared */
    PyObject *next = tried < MOST_TRIED ? site->next : NULL;
    Site *following = next != NULL && PyObject_TypeCheck(next, site_type) ? (Site *)Py_NewRef(next) : NULL;
    Py_DECREF(site);
    return following;
}

/* The variant of the call site of a frame that is for such a result, a new reference; NULL where none is known. */
static Site *site_for(Handler *self, PyObject *call, PyFrameObject *frame, PyObject *result, PyObject *node,
                      const Look *seen, Given *given)
{
    Site *site = site_at(self, call, frame);
    for (int turn = 0; site != NULL && fits(site, result, node, seen, given) != 1; turn++)
        site = next_site(site, turn);
    return site;
}

int tell_node(Handler *self, PyObject *node, int64_t row, const Site *site)
{
    if (node == Py_None || !site->requires_grad || self->follows != Py_True)
        return 0;
    Place *place = (Place *)self->place;
    PyObject *rule = new_rule(self, row, site->fields, place->sequence), *next = answer_of(self->sequence_number);
    int failed = rule == NULL || next == NULL || give_rule(node, rule) < 0;
    if (!failed)
        place->sequence = PyLong_AsLongLong(next);
    Py_XDECREF(rule);
    Py_XDECREF(next);
    return failed ? -1 : 0;
}

int note_result(Handler *self, PyObject *result, PyObject *args, int64_t row, int64_t counter)
{
    Known *known = new_known(known_type, result);
    if (known == NULL)
        return -1;
    known->row = row;
    known->counter = counter;
    int failed = set_known((Table *)self->table, result, known) < 0;
    if (!failed && count_known((Table *)self->table) > self->room) {
        PyObject *room = PyObject_CallNoArgs(self->purge);
        self->room = room == NULL ? -1 : PyLong_AsLongLong(room);
        Py_XDECREF(room);
        failed = PyErr_Occurred() != NULL;
    }
    PyObject *base = failed ? NULL : ask(result, BASE);
    if (base != NULL && base != Py_None && share(self, known, result, base) < 0) {
        put_off();
        PyObject *told = PyObject_CallFunctionObjArgs(self->view, (PyObject *)known, result, args, NULL);
        failed = told == NULL;
        Py_XDECREF(told);
    }
    failed |= base == NULL;
    Py_XDECREF(base);
    Py_DECREF(known);
    return failed ? -1 : 0;
}

/* The rows of the arguments as a list. */
static PyObject *listed(const Given *given)
{
    PyObject *rows = PyList_New(given->count);
    for (int place = 0; rows != NULL && place < given->count; place++) {
        PyObject *boxed = PyLong_FromLongLong(given->rows[place]);
        if (boxed == NULL)
            Py_CLEAR(rows);
        else
            PyList_SET_ITEM(rows, place, boxed);
    }
    return rows;
}

/* The row of a result, which is promised its value where there is none; negative with an error set. */
static int64_t append(Handler *self, Site *site, PyObject *value, const Ahead *ahead, Given *given, int64_t start,
                      int64_t end)
{
    Moment moment = {end, end - start, ((Place *)self->place)->backward_row, given->rows,
                     given->count + given->varying, -1, 0};
    given->row = appending->append(self->append, value == NULL ? site->awaiting : site->template,
                                   value == NULL ? Py_None : value, &moment);
    if (value == NULL)
        promise(ahead, given->row);
    return given->row;
}

/* What a tuple holds beside None, where that is one thing; else the tuple. */
static PyObject *only_one(PyObject *results)
{
    PyObject *only = NULL;
    for (Py_ssize_t place = 0; place < PyTuple_GET_SIZE(results); place++) {
        PyObject *each = PyTuple_GET_ITEM(results, place);
        if (each != Py_None && only != NULL)
            return results;
        only = each != Py_None ? each : only;
    }
    return only != NULL ? only : results;
}

/* The row of a result whose site is known, and everything that goes with it; 1 when done, 0 when it is not of the
 * common kind (nothing has happened then), -1 for an error. */
static int record(Handler *self, PyObject *call, PyFrameObject *frame, PyObject *result, PyObject *args,
                  Given *given, int64_t start, int64_t end)
{
    if (PyTuple_CheckExact(result))
        result = only_one(result);
    if ((PyObject *)Py_TYPE(result) != self->tensor_type)
        return PyTuple_Check(result) || PyList_CheckExact(result)
                   ? record_several(self, call, frame, result, args, given, start, end)
                   : 0;
    Known *before = known_at((Table *)self->table, result);
    if (before != NULL && referent(before->reference) == result)
        return 0;
    int answer = 0, promised = 0;
    Ahead ahead;
    PyObject *value = NULL, *node = NULL;
    Look seen;
    void *gathered = NULL;
    Site *site = NULL;
    if ((node = ask(result, GRAD_FN)) == NULL)
        goto leave;
    int looked = look(result, &seen);
    if ((site = site_for(self, call, frame, result, node, looked ? &seen : NULL, given)) == NULL)
        goto leave;
    if (looked && (value = value_of(site, result, &seen, &gathered)) == NULL)
        promised = can_promise(site, result, &seen, 1, &ahead);
    else if (!looked && site->direct && !site->summary)
        value = address_of(result);
    if (value == NULL && !promised)
        goto leave;
    int64_t row = append(self, site, value, &ahead, given, start, end);
    answer = row < 0 || note_result(self, result, args, row, 0) < 0 || tell_node(self, node, row, site) < 0 ? -1 : 1;
leave:
    if (answer == 0)
        PyErr_Clear();
    free(gathered);
    Py_XDECREF(node);
    Py_XDECREF(site);
    Py_XDECREF(value);
    return answer;
}

/* Note that a row is a new version of a tensor: see `known_tensors.wrote`. */
static int wrote(Known *known, PyObject *more, PyObject *tensor, int64_t row, int64_t versions)
{
    known->row = row;
    if ((known->counter = version_of(tensor)) < 0 || set_number(more, &slot_versions, versions) < 0)
        return -1;
    PyObject *group = known->group;
    if (group == NULL || group == Py_None)
        return 0;
    known->seen = number(group, &slot_turn) + 1;
    return set_number(group, &slot_turn, known->seen) < 0 || set_number(group, &slot_row, row) < 0 ? -1 : 0;
}

/* What only some tensors have, made when it is first needed, as a new reference: see `Known.extended`. */
static PyObject *extended(Handler *self, Known *known)
{
    if (known->more == NULL || known->more == Py_None) {
        PyObject *row = PyLong_FromLongLong(known->row);
        PyObject *made = row == NULL ? NULL : PyObject_CallOneArg(self->more_class, row);
        Py_XDECREF(row);
        if (made == NULL)
            return NULL;
        Py_XSETREF(known->more, made);
    }
    return Py_NewRef(known->more);
}

/* The row of a write into the first argument, which the call gave back; answers as `record` does. See
 * `writing.written`. */
static int record_write(Handler *self, PyObject *call, PyFrameObject *frame, PyObject *result, PyObject *args,
                        Given *given, int64_t start, int64_t end)
{
    Look seen;
    if (PyTuple_GET_SIZE(args) == 0 || PyTuple_GET_ITEM(args, 0) != result || !look(result, &seen))
        return 0;
    int answer = 0;
    PyObject *more = NULL, *value = NULL, *base = ask(result, BASE), *node = ask(result, GRAD_FN);
    void *gathered = NULL;
    Known *known = known_at((Table *)self->table, result);
    Py_XINCREF((PyObject *)known); /* other threads run while a value is read or written, and may put another one there */
    int alone = known != NULL && base == Py_None && node != NULL;
    Site *site = alone ? site_for(self, call, frame, result, node, &seen, given) : NULL;
    Ahead ahead;
    if (site == NULL || (more = extended(self, known)) == NULL ||
        ((value = value_of(site, result, &seen, &gathered)) == NULL && !can_promise(site, result, &seen, 1, &ahead)))
        goto leave;
    int64_t versions = number(more, &slot_versions) + 1, first = number(more, &slot_first);
    if (first < number(self->writer, &slot_base))
        first = -1;
    Moment moment = {end,          end - start, ((Place *)self->place)->backward_row,
                     given->rows, given->count + given->varying, first, versions};
    PyObject *template = value == NULL ? site->awaiting : site->template, *told = value == NULL ? Py_None : value;
    int64_t row = given->row = PyErr_Occurred() ? -1 : appending->append(self->append, template, told, &moment);
    if (value == NULL)
        promise(&ahead, row);
    answer = row < 0 || wrote(known, more, result, row, versions) < 0 || tell_node(self, node, row, site) < 0 ? -1 : 1;
leave:
    if (answer == 0)
        put_off();
    free(gathered);
    Py_XDECREF((PyObject *)known);
    Py_XDECREF(more);
    Py_XDECREF(value);
    Py_XDECREF(base);
    Py_XDECREF(node);
    Py_XDECREF(site);
    return answer;
}

static int add_constant(Given *given, PyObject *place, PyObject *value)
{
    if (given->constants == NULL && (given->constants = PyList_New(0)) == NULL)
        return 0;
    return PyList_Append(given->constants, place) == 0 && PyList_Append(given->constants, value) == 0;
}

/* The kind of an argument, borrowed: see `Session.kinds`; NULL where it is not known. */
static inline PyObject *kind_of(Handler *self, PyObject *value)
{
    PyObject *type = (PyObject *)Py_TYPE(value);
    return type == self->tensor_type ? self->tensor_kind : PyDict_GetItemWithError(self->kinds, type);
}

/* Add the row of an argument that is a tensor; whether it is known and there is room. */
static int add_row(Handler *self, PyObject *tensor, int64_t low, Given *given)
{
    int64_t row = given->count < MOST_GIVEN ? row_of(self, tensor, low) : -1;
    if (row < 0)
        return 0;
    given->rows[given->count++] = row;
    return 1;
}

/* A list or tuple as one constant, in which the class of tensors stands for each tensor, whose row is added; NULL where it
 * holds anything but known tensors and constants. */
static PyObject *constant_of(Handler *self, PyObject *value, int64_t low, Given *given)
{
    if (!PyList_CheckExact(value) && !PyTuple_CheckExact(value))
        return NULL;
    Py_ssize_t count = PySequence_Fast_GET_SIZE(value);
    PyObject *constant = PyTuple_New(count);
    for (Py_ssize_t place = 0; constant != NULL && place < count; place++) {
        PyObject *each = PySequence_Fast_GET_ITEM(value, place), *kind = kind_of(self, each);
        if (kind == self->tensor_kind && add_row(self, each, low, given))
            PyTuple_SET_ITEM(constant, place, Py_NewRef(self->tensor_type));
        else if (kind != NULL && kind == self->plain_kind)
            PyTuple_SET_ITEM(constant, place, Py_NewRef(each));
        else
            Py_CLEAR(constant);
    }
    return constant;
}

/* Sort an argument, given by its name or (NULL) by its place; whether it takes no more: it is a known tensor or a
 * constant. */
static int sort_one(Handler *self, PyObject *name, Py_ssize_t number, PyObject *value, int64_t low, Given *given)
{
    PyObject *kind = kind_of(self, value);
    if (kind == self->tensor_kind)
        return add_row(self, value, low, given) && (name == NULL || add_constant(given, name, self->tensor_type));
    PyObject *constant = kind == self->plain_kind ? Py_NewRef(value) : constant_of(self, value, low, given);
    PyObject *place = name != NULL ? Py_NewRef(name) : PyLong_FromSsize_t(number);
    int sorted = constant != NULL && place != NULL && add_constant(given, place, constant);
    Py_XDECREF(constant);
    Py_XDECREF(place);
    return sorted;
}

/* Sort the arguments; 1 when all are tensors that are known, and not too many, and constants. */
static int sort(Handler *self, PyObject *args, PyObject *kwargs, int64_t low, Given *given)
{
    for (Py_ssize_t place = 0; place < PyTuple_GET_SIZE(args); place++)
        if (!sort_one(self, NULL, place, PyTuple_GET_ITEM(args, place), low, given))
            return 0;
    PyObject *name, *value;
    Py_ssize_t place = 0;
    while (kwargs != NULL && PyDict_Next(kwargs, &place, &name, &value))
        if (!sort_one(self, name, 0, value, low, given))
            return 0;
    return 1;
}

/* The frame of the program that calls, a new reference; NULL where that takes more. */
static inline PyFrameObject *calling_frame(Handler *self)
{
    PyFrameObject *frame = program_frame(&self->frames);
    if (frame != NULL && frame != PyEval_GetFrame()) { /* torch itself calls: it may be making a module */
        PyObject *context = ((Place *)self->place)->context;
        int nowhere = context == NULL ? -1 : is(context, &slot_module, Py_None);
        if (nowhere < 0 || (nowhere && prepares(self) != 0))
            Py_CLEAR(frame);
    }
    return frame;
}

/* What a call gave back, or was given, first, borrowed. */
static PyObject *first_of(PyObject *result)
{
    return PyTuple_Check(result) && PyTuple_GET_SIZE(result) ? PyTuple_GET_ITEM(result, 0)
           : PyList_CheckExact(result) && PyList_GET_SIZE(result) ? PyList_GET_ITEM(result, 0)
                                                                 : result;
}

/* Whether a call is of the common kind so far: its arguments are sorted then. */
static int is_common(Handler *self, PyObject *call, PyObject *args, PyObject *kwargs, PyFrameObject **frame,
                     Given *given)
{
    if (call == NULL || !(((Call *)call)->is_plain || ((Call *)call)->writes) || appending == NULL ||
        Py_TYPE(self->append) != appending->appender || is(self->session, &slot_ended, Py_False) != 1 ||
        !(is(self->session, &slot_remote, Py_False) == 1 || promises_go_on()) ||
        is(self->writer, &slot_gate, Py_None) != 1 ||
        is_overridden(Py_None) != 0) /* by a mode of the program's, below this one: it is not to see what we ask */
        return 0;
    if (PyTuple_GET_SIZE(args) && lies_on_another(first_of(PyTuple_GET_ITEM(args, 0))))
        return 0; /* how long that takes is waited for */
    *frame = calling_frame(self);
    return *frame != NULL && sort(self, args, kwargs, number(self->writer, &slot_low), given);
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
            put_off();
        Py_XDECREF(told);
    }
    PyErr_Restore(type, error, trace);
}

/* The program takes the gradient of a known tensor in its hands; 0 where that takes more, -1 for an error. */
static int note_gradient(Handler *self, PyObject *owner, PyObject *gradient)
{
    Known *known = known_at((Table *)self->table, owner);
    if ((PyObject *)Py_TYPE(gradient) != self->tensor_type || known == NULL ||
        referent(known->reference) != owner ||
        is(self->session, &slot_ended, Py_False) != 1)
        return 0;
    PyObject *found = by_address(self->gradients, gradient);
    if (found != NULL && PyTuple_Check(found) && referent(PyTuple_GET_ITEM(found, 0)) == gradient)
        return 1;
    if (PyDict_GET_SIZE(self->gradients) >= MOST_GRADIENTS)
        return 0;
    PyObject *key = PyLong_FromVoidPtr(gradient), *reference = new_reference(gradient);
    PyObject *entry = key == NULL || reference == NULL ? NULL : PyTuple_Pack(2, reference, (PyObject *)known);
    int failed = entry == NULL || PyDict_SetItem(self->gradients, key, entry) < 0;
    Py_XDECREF(key);
    Py_XDECREF(reference);
    Py_XDECREF(entry);
    return failed ? -1 : 1;
}

/* The template of the row by which a frame sets the gradient of a tensor to None, borrowed; NULL where it has not done
 * so yet. `tensor` is its number: the row of its first version. */
static PyObject *cleared_form(Handler *self, PyFrameObject *frame, int64_t tensor)
{
    PyCodeObject *code = PyFrame_GetCode(frame);
    PyObject *key = Py_BuildValue("LL", (long long)(uintptr_t)code + PyFrame_GetLasti(frame), (long long)tensor);
    PyObject *found = key == NULL ? NULL : PyDict_GetItemWithError(self->assigned, key);
    Py_XDECREF(key);
    Py_DECREF(code);
    return found != NULL && PyTuple_CheckExact(found) && PyTuple_GET_SIZE(found) == 2 &&
                   is_reference_to(PyTuple_GET_ITEM(found, 1), (PyObject *)code)
               ? PyTuple_GET_ITEM(found, 0)
               : NULL;
}

/* The template of the row that tells of a call which sets a gradient, a new reference; None where the log has nothing
 * of the tensor, NULL where that takes more. */
static PyObject *assigning_form(Handler *self, PyObject *args, PyObject *kwargs)
{
    Py_ssize_t count = PyTuple_GET_SIZE(args);
    if (kwargs != NULL || count == 0 || count > 2 || (count == 2 && PyTuple_GET_ITEM(args, 1) != Py_None) ||
        appending == NULL || !Py_IS_TYPE(self->append, appending->appender) ||
        is(self->session, &slot_ended, Py_False) != 1)
        return NULL;
    PyObject *tensor = PyTuple_GET_ITEM(args, 0);
    Known *known = known_at((Table *)self->table, tensor);
    int64_t base = number(self->writer, &slot_base);
    if (known == NULL || referent(known->reference) != tensor || known->row < base)
        return Py_NewRef(Py_None);
    int64_t first = known->more == NULL || known->more == Py_None ? known->row & ROW_MASK
                                                                  : number(known->more, &slot_first);
    PyFrameObject *frame = PyErr_Occurred() ? NULL : calling_frame(self);
    PyObject *form = frame == NULL ? NULL : Py_XNewRef(cleared_form(self, frame, first));
    Py_XDECREF(frame);
    return form;
}

/* So many nanoseconds an accelerator took for a call; those of the host where it can't be asked. */
static int64_t took(PyObject *timer, int64_t start)
{
    PyObject *told = PyObject_CallMethodNoArgs(timer, str_stop);
    int64_t found = told == NULL ? -1 : PyLong_AsLongLong(told);
    Py_XDECREF(told);
    if (found >= 0)
        return found;
    put_off();
    return now() - start;
}

/* Whether a function was written in C: no program has made it. */
static inline int is_of_c(PyObject *func)
{
    return PyCFunction_Check(func) || Py_IS_TYPE(func, &PyMethodDescr_Type) || Py_IS_TYPE(func, &PyWrapperDescr_Type);
}

/* The frame that a call was handed on from by a function of Python, a new reference; NULL where it was not. */
static PyFrameObject *handing_frame(Handler *self, PyObject *types)
{
    PyFrameObject *frame = PyEval_GetFrame();
    if (frame == NULL || types == Py_None) /* in the place of torch's function: see `call_straight` */
        return (PyFrameObject *)Py_XNewRef(frame);
    PyCodeObject *code = PyFrame_GetCode(frame);
    Py_DECREF(code);
    return (PyObject *)code == self->handing ? PyFrame_GetBack(frame) : NULL;
}

/* Whether a function is the one that hands itself on, with all that it was given. */
static int is_itself(Handler *self, PyObject *func, PyObject *types, PyObject *args, PyObject *kwargs)
{
    PyFrameObject *frame = handing_frame(self, types);
    if (frame == NULL)
        return 0;
    PyCodeObject *code = PyFrame_GetCode(frame);
    Py_DECREF(frame);
    Py_ssize_t named = kwargs == NULL ? 0 : PyDict_GET_SIZE(kwargs), count = PyTuple_GET_SIZE(args) + named;
    int found = (PyObject *)code == PyFunction_GET_CODE(func)
                    ? named >= code->co_kwonlyargcount && count >= code->co_argcount + code->co_kwonlyargcount
                    : by_address(self->others, code) == func;
    Py_DECREF(code);
    return found;
}

/* The function that is to run, which torch may mean by the name of another one, and what it is given by name: both new
 * references. -1 with an error set. See `Originals.intended`. */
static int find_intended(Handler *self, PyObject **func, PyObject *types, PyObject *args, PyObject **kwargs)
{
    PyObject *frame = (PyObject *)PyEval_GetFrame(), *function, *names;
    PyObject *told = frame == NULL
                         ? NULL
                         : PyObject_CallFunctionObjArgs(self->intended, *func, frame,
                                                        types == Py_None ? Py_True : Py_False, args, *kwargs == NULL ? Py_None : *kwargs, NULL);
    if (told != NULL && told != Py_None && PyArg_ParseTuple(told, "OO", &function, &names)) {
        *func = function;
        *kwargs = names == Py_None ? NULL : names;
    }
    Py_INCREF(*func);
    Py_XINCREF(*kwargs);
    Py_XDECREF(told);
    return PyErr_Occurred() ? -1 : 0;
}

/* Whether a CUDA device may run a call: not where it is given a tensor first that lies elsewhere. */
static int may_run_there(PyObject *args)
{
    PyObject *first = PyTuple_GET_SIZE(args) ? PyTuple_GET_ITEM(args, 0) : NULL;
    return first == NULL || !is_ordinary(first) || lies_there(first);
}

/* __torch_function__(func, types, args=(), kwargs=None). The function is called from here in every case: what it warns
 * of is told of the program's line, and its exceptions pass no frame of ours. */
static inline PyObject *run_call(Handler *self, PyObject *func, PyObject *args, PyObject *kwargs)
{
    calls_made++;
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
            PyObject *owner = PyTuple_GET_ITEM(args, 0);
            int noted = note_gradient(self, owner, gradient);
            if (noted == 0) {
                PyErr_Clear();
                PyObject *told = PyObject_CallFunctionObjArgs(self->note, owner, gradient, NULL);
                noted = told == NULL ? -1 : 1;
                Py_XDECREF(told);
            }
            if (noted < 0)
                put_off();
        }
        return gradient;
    }
    if (call != NULL && ((Call *)call)->assigns_gradient) {
        PyObject *form = assigning_form(self, args, kwargs);
        if (form != NULL) {
            PyObject *done = PyObject_Call(func, args, kwargs);
            Moment moment = {now(), 0, 0, NULL, 0, -1, 0};
            if (done != NULL && form != Py_None && appending->append(self->append, form, Py_None, &moment) < 0 &&
                give_up(self->give_up, self->session) < 0)
                Py_CLEAR(done);
            Py_DECREF(form);
            return done;
        }
        PyErr_Clear();
    }
    PyFrameObject *found = NULL;
    Given given = {.count = 0};
    PyObject *rows = NULL, *constants = NULL, *frame = NULL, *result = NULL, *prepared = NULL, *timer = Py_None;
    int common = is_common(self, call, args, kwargs, &found, &given);
    frame = (PyObject *)found;
    if (common)
        held = Py_NewRef(call);
    else {
        put_off();
        Py_CLEAR(given.constants);
        call = NULL;
        PyFrameObject *direct = PyEval_GetFrame();
        prepared = direct == NULL ? Py_NewRef(Py_None)
                                  : PyObject_CallFunctionObjArgs(self->prepare, direct, func, args,
                                                                 kwargs ? kwargs : Py_None, NULL);
        if (prepared == NULL) { /* there may be room on the stack for the call; what interrupts us is due after it */
            put_off();
            prepared = Py_NewRef(Py_None);
        }
        if (prepared == Py_None) {
            result = PyObject_Call(func, args, kwargs);
            goto leave;
        }
        Py_XSETREF(frame, NULL);
        if (!PyArg_ParseTuple(prepared, "OOOOO", &call, &frame, &rows, &constants, &timer)) {
            call = frame = rows = constants = NULL;
            goto leave;
        }
        held = Py_NewRef(call);
        Py_INCREF(frame);
        Py_INCREF(rows);
        Py_INCREF(constants);
    }
    uint64_t first = 0, last = 0;
    ask_again();
    if (common && !((Call *)call)->views && promises_go_on() && may_run_there(args))
        first = mark_here();
    int64_t start = now();
    result = PyObject_Call(func, args, kwargs);
    int64_t end = result == NULL || timer == Py_None ? now() : start + took(timer, start);
    ask_again(); /* what ran within may have used another stream */
    if (first && result != NULL && lies_there(first_of(result)))
        last = mark_here();
    int done = 0;
    if (result != NULL && common)
        done = (((Call *)call)->writes ? record_write : record)(self, call, (PyFrameObject *)frame, result, args,
                                                                &given, start, end);
    if (done > 0 && last)
        took_from(given.row, first, last);
    else if (done == 0 && last) { /* Python tells of it */
        ((Place *)self->place)->first = first;
        ((Place *)self->place)->last = last;
    }
    else {
        never_mind(first);
        never_mind(last);
    }
    if (done < 0)
        done = give_up(self->give_up, self->session) < 0 ? -1 : 1;
    if (done == 0 && common) { /* what follows wants lists */
        PyObject *type, *error, *trace;
        PyErr_Fetch(&type, &error, &trace);
        constants = given.constants == NULL ? PyList_New(0) : Py_NewRef(given.constants);
        rows = listed(&given);
        if (rows == NULL || constants == NULL) {
            Py_XDECREF(type);
            Py_XDECREF(error);
            Py_XDECREF(trace);
            Py_CLEAR(result);
            goto leave;
        }
        PyErr_Restore(type, error, trace);
    }
    if (result == NULL)
        tell(self, call, frame, rows);
    else if (done == 0) {
        PyObject *told = PyObject_CallFunction(self->finish, "OOOOOOOLL", call, result, args, kwargs ? kwargs : Py_None,
                                               rows, constants, frame, (long long)start, (long long)end);
        if (told == NULL)
            put_off();
        Py_XDECREF(told);
        done = 1;
    }
    if (done < 0)
        Py_CLEAR(result);
leave:
    Py_XDECREF(held);
    Py_XDECREF(frame);
    Py_XDECREF(rows);
    Py_XDECREF(constants);
    Py_XDECREF(given.constants);
    Py_XDECREF(prepared);
    return result;
}

static PyObject *Handler_call(PyObject *object, PyObject *const *words, size_t flags, PyObject *names)
{
    Handler *self = (Handler *)object;
    Py_ssize_t count = PyVectorcall_NARGS(flags);
    if (names != NULL || count < 3 || !PyTuple_Check(words[2])) {
        PyErr_SetString(PyExc_TypeError, "__torch_function__(func, types, args, kwargs)");
        return NULL;
    }
    PyObject *func = words[0], *args = words[2], *kwargs = count > 3 && words[3] != Py_None ? words[3] : NULL;
    if (is_of_c(func) || (PyFunction_Check(func) ? is_itself(self, func, words[1], args, kwargs)
                                                 : PyDict_GetItemWithError(self->calls, func) != NULL))
        return run_call(self, func, args, kwargs);
    if (is_interrupted()) /* torch's own functions are hashed by Python */
        return NULL;
    PyErr_Clear(); /* of what can't be hashed */
    int found = find_intended(self, &func, words[1], args, &kwargs);
    PyObject *result = found < 0 ? NULL : run_call(self, func, args, kwargs);
    Py_DECREF(func);
    Py_XDECREF(kwargs);
    return result;
}

#define HELD(X)                                                                                                        \
    X(prepare) X(finish) X(failed) X(view) X(note) X(purge) X(session) X(place) X(writer) X(append) X(calls)           \
    X(kinds) X(inside) X(preparing) X(table) X(gradients) X(assigned) X(tensor_type) X(group_class) X(more_class) X(tensor_kind)   \
    X(plain_kind) X(grad_enabled) X(sequence_number) X(follows) X(give_up) X(intended) X(handing) X(others)

static int Handler_init(Handler *self, PyObject *args, PyObject *names)
{
    TAKE_BY_NAME(Handler, HELD)
    if (!PyDict_Check(self->calls) || !PyDict_Check(self->kinds) || !PyDict_Check(self->inside) ||
        !Py_IS_TYPE(self->table, table_type) || !PyDict_Check(self->gradients) || !PyDict_Check(self->assigned) ||
        !PyDict_Check(self->others)) {
        PyErr_SetString(PyExc_TypeError,
                        "calls, kinds, inside, gradients, assigned and others are dicts, and table is a Table");
        return -1;
    }
    if (!PyAnySet_Check(self->preparing)) {
        PyErr_SetString(PyExc_TypeError, "preparing is a set");
        return -1;
    }
    if (!PyObject_TypeCheck(self->place, place_type)) {
        PyErr_SetString(PyExc_TypeError, "place is no Place");
        return -1;
    }
    self->frames.inside = self->inside;
    self->vectorcall = Handler_call;
    return 0;
}

HOLDS(Handler, HELD)

static void Handler_end(Handler *self)
{
    forget_frames(&self->frames);
    Handler_dealloc(self);
}

/* As torch asks for the function of a mode, and for what that is a method of: by letters, of which it would make a
 * string each time, and look for that in one class after the other. */
static PyObject *Handler_getattr(PyObject *self, char *letters)
{
    if (strcmp(letters, "__torch_function__") == 0 || strcmp(letters, "__self__") == 0)
        return Py_NewRef(self);
    PyObject *name = PyUnicode_FromString(letters), *found = name == NULL ? NULL : PyObject_GenericGetAttr(self, name);
    Py_XDECREF(name);
    return found;
}

static PyObject *Handler_itself(PyObject *self, void *closure) { return Py_NewRef(self); }

static PyGetSetDef Handler_getset[] = {
    {"__torch_function__", Handler_itself, NULL, "What torch calls: the handler.", NULL},
    {"__self__", Handler_itself, NULL, "What that is a method of: the handler.", NULL},
    {NULL}};

static PyMemberDef Handler_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Handler, vectorcall), READONLY, NULL}, {NULL}};

static PyType_Slot Handler_slots[] = {{Py_tp_doc, "A mode, and what torch calls in the place of its functions."},
                                      {Py_tp_getattr, Handler_getattr},
                                      {Py_tp_getattro, PyObject_GenericGetAttr},
                                      {Py_tp_getset, Handler_getset},
                                      {Py_tp_new, PyType_GenericNew},
                                      {Py_tp_init, Handler_init},
                                      {Py_tp_call, PyVectorcall_Call},
                                      {Py_tp_dealloc, Handler_end},
                                      {Py_tp_traverse, Handler_traverse},
                                      {Py_tp_clear, Handler_clear},
                                      {Py_tp_members, Handler_members},
                                      {0, NULL}};

static PyType_Spec Handler_spec = {"graphscope.adapters.torch._calls.Handler", sizeof(Handler), 0,
                                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL, Handler_slots};

int add_handler(PyObject *module)
{
    handler_type = (PyTypeObject *)PyType_FromSpec(&Handler_spec);
    empty = PyUnicode_InternFromString("");
    return handler_type == NULL || empty == NULL ? -1
                                                 : PyModule_AddObjectRef(module, "Handler", (PyObject *)handler_type);
}
