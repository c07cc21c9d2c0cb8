/* The calls of ops that take arguments besides tensors, or up to four tensors: what `calls._general` does while no log
 * is written. Their arguments are read by a function in Python. Part of `_calls.c`.
 */

/* Let Python run the op on what was read: the arguments are not read twice, as that may run ops. */
static PyObject *applied(Call *self, PyObject *inputs, PyObject *attrs)
{
    Py_ssize_t count = PyTuple_GET_SIZE(inputs);
    for (Py_ssize_t place = 0; place < count; place++) {
        int is_tensor = PyObject_IsInstance(PyTuple_GET_ITEM(inputs, place), (PyObject *)engine.tensor);
        if (is_tensor < 0)
            return NULL;
        if (is_tensor)
            return PyObject_CallFunction(engine.apply, "OOOi", self->op, inputs, attrs, 1);
    }
    PyObject *forward = PyObject_GetAttrString(self->op, "forward");
    PyObject *result = forward == NULL ? NULL : PyObject_Call(forward, inputs, attrs);
    Py_XDECREF(forward);
    if (result != NULL && self->residuals)
        Py_SETREF(result, PySequence_GetItem(result, 0));
    return result;
}

static inline char kind_of(PyObject *array)
{
    if (PyArray_CheckExact(array))
        return PyArray_DESCR((PyArrayObject *)array)->kind;
    return is_floating_scalar(array) ? 'f' : PyArray_IsScalar(array, ComplexFloating) ? 'c' : 0;
}

/* The arrays and numbers of a call that is common; 0 where it is not. */
static int common_operands(Call *self, PyObject *inputs, PyObject **arrays, int *wanting)
{
    PyArray_Descr *dtype = NULL;
    int mixed = 0, numbers = 0;
    Py_ssize_t count = PyTuple_GET_SIZE(inputs);
    if (count < 1 || count > MOST_INPUTS)
        return 0;
    for (Py_ssize_t place = 0; place < count; place++) {
        PyObject *value = PyTuple_GET_ITEM(inputs, place);
        if (value == Py_None || PyFloat_CheckExact(value) || PyLong_CheckExact(value)) {
            arrays[place] = value;
            numbers = 1;
            continue;
        }
        if (!Py_IS_TYPE(value, engine.tensor))
            return 0;
        PyObject *array = arrays[place] = AT(value, engine.array);
        int alone = count == 1 && !self->view;
        if (array == NULL || !(PyArray_CheckExact(array) || (alone && PyArray_IsScalar(array, Generic))))
            return 0;
        if (target_of(value) != NULL)
            *wanting |= 1 << place;
        if (!PyArray_CheckExact(array))
            continue;
        mixed |= dtype != NULL && dtype != PyArray_DESCR((PyArrayObject *)array);
        dtype = dtype == NULL ? PyArray_DESCR((PyArrayObject *)array) : dtype;
    }
    if (numbers && (dtype == NULL || dtype->kind != 'f'))
        mixed = 1;
    if (self->floating && !is_floating_array(arrays[0]) && !is_floating_scalar(arrays[0]))
        return 0;
    return (!mixed || !self->promotes) && !is_widened(self, arrays[0]) && Py_IS_TYPE(PyTuple_GET_ITEM(inputs, 0), engine.tensor);
}

/* The way back for the inputs that need a gradient, one bit each; borrowed, NULL for an error. */
static Way *way_for(Call *self, int wanting, Py_ssize_t count)
{
    Way *way = &self->general[(1 << count) - 2 + wanting];
    if (way->plan != NULL)
        return way;
    PyObject *flags = PyTuple_New(count), *plan;
    if (flags == NULL)
        return NULL;
    for (Py_ssize_t place = 0; place < count; place++)
        PyTuple_SET_ITEM(flags, place, Py_NewRef(wanting >> place & 1 ? Py_True : Py_False));
    plan = PyObject_CallFunctionObjArgs(engine.plan_for, self->op, flags, NULL);
    Py_DECREF(flags);
    int failed = plan == NULL || read_way(way, plan) < 0;
    Py_XDECREF(plan);
    return failed ? NULL : way;
}

/* Remember the way back of a call. `given` is what the op made (with its residuals), then its arrays. */
static int remember_general(Call *self, PyObject *out, PyObject *inputs, PyObject *attrs, PyObject **given, int wanting)
{
    Py_ssize_t count = PyTuple_GET_SIZE(inputs);
    Way *way = way_for(self, wanting, count);
    if (way == NULL)
        return -1;
    Py_ssize_t wanted = PyTuple_GET_SIZE(way->wanted);
    if (wanted == 0)
        return 0;
    PyObject *goal = PyTuple_New(wanted), *shapes = PyTuple_New(wanted), *saved = NULL;
    PyObject *minus_one = PyLong_FromLong(-1);
    int failed = goal == NULL || shapes == NULL || minus_one == NULL;
    for (Py_ssize_t place = 0; !failed && place < wanted; place++) {
        Py_ssize_t input = PyLong_AsSsize_t(PyTuple_GET_ITEM(way->wanted, place));
        PyObject *target = target_of(PyTuple_GET_ITEM(inputs, input)), *shape = shape_of(given[input + 1]);
        failed = target == NULL || shape == NULL; /* another thread may have changed the tensor meanwhile */
        PyTuple_SET_ITEM(goal, place, Py_XNewRef(target));
        PyTuple_SET_ITEM(shapes, place, shape);
    }
    if (!failed && (saved = PyObject_Vectorcall(way->save, given, count + 1, NULL)) != NULL) {
        if (way->alone)
            Py_SETREF(goal, Py_NewRef(PyTuple_GET_ITEM(goal, 0)));
        failed = remember(out, way, goal, saved, shapes, minus_one, Py_None);
        if (!failed)
            PyList_SetItem(AT(out, engine.node), ATTRS, Py_NewRef(attrs));
        Py_DECREF(minus_one);
        return failed;
    }
    Py_XDECREF(goal);
    Py_XDECREF(shapes);
    Py_XDECREF(minus_one);
    if (!PyErr_Occurred())
        PyErr_SetString(PyExc_RuntimeError, "a tensor was changed while an op ran on it");
    return -1;
}

static PyObject *run_general(Call *self, PyObject *inputs, PyObject *attrs)
{
    PyObject *held[MOST_INPUTS + 2] = {NULL}, **given = held + 1, *made, *result, *out = NULL, *row;
    int wanting = 0, remembered = remembers();
    Py_ssize_t count = PyTuple_GET_SIZE(inputs);
    if (remembered < 0 || !common_operands(self, inputs, given + 1, &wanting))
        return applied(self, inputs, attrs);
    for (Py_ssize_t place = 1; place <= count; place++)
        Py_INCREF(given[place]);
    made = PyObject_VectorcallDict(self->forward, given + 1, count | PY_VECTORCALL_ARGUMENTS_OFFSET, attrs);
    if (made == NULL) {
        int explained = PyErr_ExceptionMatches(PyExc_ValueError) || PyErr_ExceptionMatches(PyExc_TypeError) ||
                        PyErr_ExceptionMatches(PyExc_IndexError);
        if (explained && !is_interrupted()) { /* Python will meet it again */
            PyErr_Clear();
            out = applied(self, inputs, attrs);
        }
        goto done;
    }
    given[0] = made;
    result = self->residuals ? PySequence_GetItem(made, 0) : Py_NewRef(made);
    row = result == NULL ? NULL : PyLong_FromLong(-1);
    if (row == NULL) {
        Py_XDECREF(result);
        goto done;
    }
    out = tensor_of(result, row);
    Py_DECREF(row);
    if (out != NULL && self->view) {
        PyObject *source = PyTuple_GET_ITEM(inputs, 0);
        if (PyArray_CheckExact(result) && PyArray_BASE((PyArrayObject *)result) == given[1]) {
            if (note_view(out, source, remembered) < 0)
                Py_CLEAR(out);
        }
        else {
            PyObject *noted = PyObject_CallFunctionObjArgs(engine.note_view, out, source, result, given[1], NULL);
            if (noted == NULL)
                Py_CLEAR(out);
            Py_XDECREF(noted);
        }
    }
    if (out == NULL || !wanting || !remembered)
        goto done;
    char kind = kind_of(result);
    if ((kind == 'f' || kind == 'c') && remember_general(self, out, inputs, attrs, given, wanting) < 0)
        Py_CLEAR(out);
done:
    for (Py_ssize_t place = 0; place <= count; place++)
        Py_XDECREF(given[place]);
    return out;
}

static PyObject *call_general(PyObject *object, PyObject *const *args, size_t flags, PyObject *names)
{
    Call *self = (Call *)object;
    if (RECORDS(engine.log->active))
        return in_python(self, args, flags, names);
    PyObject *read = PyObject_Vectorcall(self->prepare, args, flags, names), *out;
    if (read == NULL && names != NULL && PyErr_ExceptionMatches(PyExc_TypeError)) { /* in NumPy's words, perhaps */
        PyErr_Clear();
        return in_python(self, args, flags, names);
    }
    if (read == NULL)
        return NULL;
    if (!PyTuple_CheckExact(read) || PyTuple_GET_SIZE(read) != 2 || !PyDict_CheckExact(PyTuple_GET_ITEM(read, 1))) {
        PyErr_SetString(PyExc_TypeError, "what reads the arguments of an op gives (inputs, attributes)");
        Py_DECREF(read);
        return NULL;
    }
    PyObject *inputs = PySequence_Tuple(PyTuple_GET_ITEM(read, 0));
    out = inputs == NULL ? NULL : run_general(self, inputs, PyTuple_GET_ITEM(read, 1));
    Py_XDECREF(inputs);
    Py_DECREF(read);
    return out;
}
