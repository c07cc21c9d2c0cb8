/* Errors that are set: which are the recorder's own, to be forgotten, and which the program's: see `interruptions.py`. */
#ifndef GRAPHSCOPE_INTERRUPTION_H
#define GRAPHSCOPE_INTERRUPTION_H

#include <Python.h>

/* Whether an error is set that the program is to have: what a signal handler raised, as Ctrl-C or a time-out. Its class
 * does not tell, and only errors are asked. */
static inline int is_interrupted(void)
{
    if (!PyErr_Occurred() || PyErr_ExceptionMatches(PyExc_RecursionError))
        return 0; /* there may be no room for a question */
    if (!PyErr_ExceptionMatches(PyExc_Exception))
        return 1;
    PyObject *type, *error, *trace, *answer = NULL;
    PyErr_Fetch(&type, &error, &trace);
    PyErr_NormalizeException(&type, &error, &trace);
    if (trace != NULL)
        PyException_SetTraceback(error, trace);
    PyObject *module = PyImport_ImportModule("graphscope.eventlog.interruptions");
    if (module != NULL)
        answer = PyObject_CallMethod(module, "is_interruption", "O", error);
    Py_XDECREF(module);
    int found = answer == NULL || answer == Py_True; /* interrupted again: that error is set now */
    if (answer != NULL)
        PyErr_Restore(type, error, trace);
    else {
        Py_XDECREF(type);
        Py_XDECREF(error);
        Py_XDECREF(trace);
    }
    Py_XDECREF(answer);
    return found;
}

static inline int raise_again(void *error)
{
    PyErr_SetObject((PyObject *)Py_TYPE((PyObject *)error), (PyObject *)error);
    Py_DECREF((PyObject *)error);
    return -1;
}

/* Forget an error that is set, if one is; one that the program is to have comes again when its Python goes on. */
static inline void put_off(void)
{
    if (!is_interrupted()) {
        PyErr_Clear();
        return;
    }
    PyObject *type, *error, *trace;
    PyErr_Fetch(&type, &error, &trace);
    PyErr_NormalizeException(&type, &error, &trace);
    if (trace != NULL)
        PyException_SetTraceback(error, trace);
    if (Py_AddPendingCall(raise_again, error) < 0)
        Py_DECREF(error); /* so many are waiting already */
    Py_XDECREF(type);
    Py_XDECREF(trace);
}

#endif
