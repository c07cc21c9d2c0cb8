/* What the collector asks of types that hold objects. */
#ifndef GRAPHSCOPE_HOLDING_H
#define GRAPHSCOPE_HOLDING_H

#include <Python.h>

#define VISIT_PART(name) Py_VISIT(self->name);
#define CLEAR_PART(name) Py_CLEAR(self->name);

/* Type_traverse, Type_clear and Type_dealloc of a type whose members PARTS(X) are objects. */
#define HOLDS(Type, PARTS)                                                                                             \
    static int Type##_traverse(Type *self, visitproc visit, void *arg)                                                 \
    {                                                                                                                  \
        PARTS(VISIT_PART)                                                                                              \
        Py_VISIT(Py_TYPE(self));                                                                                       \
        return 0;                                                                                                      \
    }                                                                                                                  \
    static int Type##_clear(Type *self)                                                                                \
    {                                                                                                                  \
        PARTS(CLEAR_PART)                                                                                              \
        return 0;                                                                                                      \
    }                                                                                                                  \
    static void Type##_dealloc(Type *self)                                                                             \
    {                                                                                                                  \
        PyTypeObject *type = Py_TYPE(self);                                                                            \
        PyObject_GC_UnTrack(self);                                                                                     \
        Type##_clear(self);                                                                                            \
        type->tp_free((PyObject *)self);                                                                               \
        Py_DECREF(type);                                                                                               \
    }

#endif
