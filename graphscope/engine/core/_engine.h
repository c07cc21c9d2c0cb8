/* What the compiled parts of the engine share: slots of Python objects, the places of a record, what is known of modes. */
#ifndef GRAPHSCOPE_ENGINE_H
#define GRAPHSCOPE_ENGINE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <descrobject.h>
#include <stdint.h>
#include <structmember.h>

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#include <numpy/arrayobject.h>
#include <numpy/arrayscalars.h>

#include "../../eventlog/_append.h"
#include "../../eventlog/_interruption.h"

/* Places in a record: see `node.py`. */
enum { PLAN, TARGETS, SAVED, MOMENT, SHAPES, ATTRS, ROW, SITE, HOOKS, RETAINED, PLACES };

/* Whether that is a writer; an engine built to never record, as benchmarks do, does not ask. */
#ifdef GRAPHSCOPE_NEVER_RECORDS
#define RECORDS(writer) 0
#else
#define RECORDS(writer) ((writer) != Py_None)
#endif

/* The value of a slot, at an offset that `slot_offset` found; borrowed, NULL where it was never set. */
#define AT(object, offset) (*(PyObject **)((char *)(object) + (offset)))

/* Where a slot of a Python class lies in its instances; -1 with an error set. */
static Py_ssize_t slot_offset(PyTypeObject *type, const char *name)
{
    PyObject *slot = PyObject_GetAttrString((PyObject *)type, name);
    Py_ssize_t offset = -1;
    if (slot != NULL && Py_IS_TYPE(slot, &PyMemberDescr_Type))
        offset = ((PyMemberDescrObject *)slot)->d_member->offset;
    else if (slot != NULL)
        PyErr_Format(PyExc_TypeError, "%s.%s is no slot", type->tp_name, name);
    Py_XDECREF(slot);
    return offset;
}

/* The compiled appender; NULL where there is none: then recording is left to Python. */
static const AppendAPI *append_api(void)
{
    const AppendAPI *api = PyCapsule_Import(GRAPHSCOPE_APPEND, 0);
    if (api == NULL)
        PyErr_Clear();
    return api;
}

/* Whether an array has the dims that a tuple says. */
static inline int has_shape(PyArrayObject *array, PyObject *shape)
{
    if (PyTuple_GET_SIZE(shape) != PyArray_NDIM(array))
        return 0;
    for (int dim = 0; dim < PyArray_NDIM(array); dim++)
        if (PyLong_AsSsize_t(PyTuple_GET_ITEM(shape, dim)) != PyArray_DIM(array, dim))
            return 0;
    return 1;
}

static inline int is_floating_scalar(PyObject *value)
{
    return Py_IS_TYPE(value, &PyFloat32ArrType_Type) || Py_IS_TYPE(value, &PyFloat64ArrType_Type) ||
           Py_IS_TYPE(value, &PyHalfArrType_Type);
}

static inline int is_floating_array(PyObject *value)
{
    return PyArray_CheckExact(value) && PyArray_DESCR((PyArrayObject *)value)->kind == 'f';
}

#endif
