/* The row of a call that made several tensors, compiled: where its site is known and all are new. */
#include "_handler.h"

/* The backward node of the tensors that a call made, a new reference: None where they have none. NULL where that takes
 * more: some are known, are no plain tensors, or have nodes of their own. */
static PyObject *node_of_all(Handler *self, PyObject *const *tensors, Py_ssize_t count)
{
    PyObject *found = NULL;
    for (Py_ssize_t slot = 0; slot < count; slot++) {
        if ((PyObject *)Py_TYPE(tensors[slot]) != self->tensor_type)
            goto more;
        Known *known = known_at((Table *)self->table, tensors[slot]);
        if (known != NULL && referent(known->reference) == tensors[slot])
            goto more;
        PyObject *node = ask(tensors[slot], GRAD_FN);
        int same = node != NULL && (found == NULL || node == found || node == Py_None);
        if (found == NULL)
            found = Py_XNewRef(node);
        Py_XDECREF(node);
        if (!same)
            goto more;
    }
    return found;
more:
    Py_XDECREF(found);
    return NULL;
}

/* Whether a site is for calls that made as many tensors, of which the first has such a node. Each is looked at later. */
static int fits(const Site *site, PyObject *node, Py_ssize_t count, Given *given)
{
    return site->count == given->count && site->template != NULL && site->beside != NULL && site->slots != NULL &&
           PyTuple_CheckExact(site->slots) && PyTuple_GET_SIZE(site->slots) == count &&
           !site->requires_grad == (node == Py_None) && has_constants(site, site->beside, given);
}

/* Note that new tensors are the values of the slots of a row. */
static int note_all(Handler *self, PyObject *const *tensors, Py_ssize_t count, PyObject *args, int64_t row)
{
    for (Py_ssize_t slot = 0; slot < count; slot++) {
        Known *known = known_at((Table *)self->table, tensors[slot]);
        if (known != NULL && referent(known->reference) == tensors[slot])
            continue; /* it was given twice */
        int64_t counter = version_of(tensors[slot]);
        if (counter < 0) { /* those of inference mode count no writes */
            put_off();
            counter = 0;
        }
        if (note_result(self, tensors[slot], args, row | (int64_t)slot << SLOT_SHIFT, counter) < 0)
            return -1;
    }
    return 0;
}

int record_several(Handler *self, PyObject *call, PyFrameObject *frame, PyObject *results, PyObject *args, Given *given,
                   int64_t start, int64_t end)
{
    PyObject *const *tensors = PySequence_Fast_ITEMS(results);
    Py_ssize_t count = PySequence_Fast_GET_SIZE(results);
    PyObject *node = count > 1 ? node_of_all(self, tensors, count) : NULL;
    int answer = 0;
    Site *site = node == NULL ? NULL : site_at(self, call, frame);
    for (int turn = 0; site != NULL && !fits(site, node, count, given); turn++)
        site = next_site(site, turn);
    if (site != NULL) {
        Moment moment = {end,         end - start, ((Place *)self->place)->backward_row,
                         given->rows, given->count + given->varying, -1, 0};
        int64_t row = given->row = append_in_slots(self->append, site->template, site->slots, tensors, &moment);
        if (row >= 0)
            answer = note_all(self, tensors, count, args, row) < 0 || tell_node(self, node, row, site) < 0 ? -1 : 1;
    }
    if (answer == 0)
        put_off();
    Py_XDECREF(node);
    Py_XDECREF(site);
    return answer;
}
