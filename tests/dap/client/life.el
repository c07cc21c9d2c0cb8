;; A session driven by Emacs' dap-mode: emacs --batch -l life.el PYTHON ADAPTER PROGRAM; prints what it saw, a line each.
(package-initialize)
(require 'dap-mode)
(setq dap-auto-show-output nil)

(defvar stops 0)
(add-hook 'dap-stack-frame-changed-hook
          (lambda (session)
            (when (dap--debug-session-active-frame session)
              (setq stops (1+ stops)))))

(defun moved (how)
  "Do HOW, wait until one stands again, and tell where."
  (let ((before stops) (tries 0))
    (funcall how)
    (while (and (= stops before) (< tries 600))
      (setq tries (1+ tries))
      (accept-process-output nil 0.05))
    (when (= stops before) (error "nothing stopped"))
    (let ((frame (dap--debug-session-active-frame (dap--cur-session))))
      (princ (format "%s: %s\n" (gethash "line" frame) (gethash "name" frame))))))

(defun ask (command &rest arguments)
  "Send COMMAND, as the functions of dap-mode do."
  (let ((session (dap--cur-session)))
    (dap--send-message
     (dap--make-request command (append (list :threadId (dap--debug-session-thread-id session)) arguments))
     (dap--resp-handler) session)))

(let* ((python (pop command-line-args-left)) (adapter (pop command-line-args-left)) (program (pop command-line-args-left)))
  (dap-register-debug-provider "graphscope" #'identity)
  (moved (lambda ()
           (dap-debug (list :type "graphscope" :request "launch" :name "life" :program program :granularity "node" :stopOnEntry t
                            :dap-server-path (list python adapter)))))
  (moved (lambda () (dap-next (dap--cur-session))))
  (let ((done nil))
    (dap--send-message
     (dap--make-request "setFunctionBreakpoints" (list :breakpoints (vector (list :name "op:tanh backward"))))
     (dap--resp-handler (lambda (_) (setq done t))) (dap--cur-session))
    (while (not done) (accept-process-output nil 0.05)))
  (moved (lambda () (dap-continue (dap--cur-session) (dap--debug-session-thread-id (dap--cur-session)))))
  (moved (lambda () (ask "stepBack")))
  (moved (lambda () (ask "stepBack")))
  (moved (lambda () (ask "reverseContinue")))
  (let ((process (dap--debug-session-proc (dap--cur-session))))
    (dap-disconnect (dap--cur-session))
    (while (process-live-p process) (accept-process-output nil 0.05))
    (princ (format "left: %s\n" (process-exit-status process)))))
