/* Losses that a GradScaler has multiplied: see `loss_scales`. */
#include "_adapter.h"

/* What autograd multiplied a root by, a new reference; NULL, without an error, where it is no product of tensors. */
static PyObject *factor_of(PyObject *root)
{
    PyObject *node = is_ordinary(root) ? ask(root, GRAD_FN) : NULL, *name = NULL, *factor = NULL;
    if (!is_nothing(node) && (name = PyObject_CallMethodNoArgs(node, str_name)) != NULL && PyUnicode_Check(name) &&
        PyUnicode_CompareWithASCIIString(name, "MulBackward0") == 0)
        factor = PyObject_GetAttr(node, str__saved_other);
    Py_XDECREF(node);
    Py_XDECREF(name);
    PyErr_Clear();
    return factor;
}

double scale_of(PyObject *sampling, PyObject *root)
{
    double scale = 1;
    PyObject *scales = get(sampling, &slot_scales), *factor = NULL;
    if (scales != NULL && PyTuple_Check(scales) && PyTuple_GET_SIZE(scales) > 0)
        factor = factor_of(root);
    for (Py_ssize_t place = 0; factor != NULL && place < PyTuple_GET_SIZE(scales); place++) {
        PyObject *number = PyTuple_GET_ITEM(scales, place) == factor ? number_in(factor) : NULL;
        if (number != NULL)
            scale = PyFloat_AS_DOUBLE(number);
        Py_XDECREF(number);
    }
    Py_XDECREF(scales);
    Py_XDECREF(factor);
    PyErr_Clear();
    return scale;
}
