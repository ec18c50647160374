;;; run.el --- tests of fencepost.el  -*- lexical-binding: t; -*-

;;; Commentary:
;; emacs -Q --batch -l editors/emacs/tests/run.el SERVER KERNEL
;; SERVER is the fencepost program, KERNEL a .ttgir file of one kernel with findings.

;;; Code:

(require 'ert)
(defconst test-server (expand-file-name (pop command-line-args-left)))
(defconst test-kernel (expand-file-name (pop command-line-args-left)))
(add-to-list 'load-path (file-name-directory (directory-file-name (file-name-directory load-file-name))))
(require 'fencepost)

(defun test-wait (what condition)
  "Wait until CONDITION, called WHAT, gives something, and give that."
  (let ((end (+ (float-time) 20)) value)
    (while (and (not (setq value (funcall condition))) (< (float-time) end))
      (accept-process-output nil 0.02))
    (or value (ert-fail (format "waited for %s" what)))))

(defvar test-source test-kernel "What is copied.")

(defmacro test-with-kernel (name above &rest body)
  "Run BODY in a copy of the kernel called NAME, with the line ABOVE in front, when it has been judged."
  (declare (indent 2))
  `(let* ((folder (make-temp-file "fencepost" t)) (file (expand-file-name ,name folder)))
     (make-directory (expand-file-name ".git" folder))
     (with-temp-file file (insert (or ,above "")) (insert-file-contents test-source) (goto-char (point-max)))
     (with-current-buffer (find-file-noselect file)
       (unwind-protect
           (progn
             (switch-to-buffer (current-buffer))
             (apply #'eglot (eglot--guess-contact))
             (test-wait "the server" #'eglot-current-server)
             (flymake-start)
             (test-wait "the verdict" (lambda () (or (flymake-diagnostics)
                                                     (string-match-p "proved" (or (fencepost-status-text) "")))))
             ,@body)
         (ignore-errors (eglot-shutdown (eglot-current-server)))
         (set-buffer-modified-p nil)
         (kill-buffer)
         (delete-directory folder t)))))

(defun test-findings (kind)
  "The findings of KIND in the buffer."
  (seq-filter
   (lambda (it) (equal kind (plist-get (alist-get 'eglot-lsp-diag (flymake-diagnostic-data it)) :code)))
   (flymake-diagnostics)))

(setq fencepost-program test-server
      eglot-sync-connect 20
      ;; Batch mode is never idle.
      eglot-send-changes-idle-time 0
      ;; What is replaced below would be compiled for, where Emacs can.
      native-comp-enable-subr-trampolines nil)

(ert-deftest fencepost-diagnostics-and-hover ()
  (test-with-kernel "reading.ttgir" nil
    (should (eq major-mode 'ttgir-mode))
    (let ((finding (car (test-findings "missing-forward-barrier"))))
      (should finding)
      ;; Eglot shows no related places, so the message has them.
      (should (string-match-p "line [0-9]+: (1) partition0 writes" (flymake-diagnostic-text finding)))
      (goto-char (flymake-diagnostic-beg finding))
      (should (equal (fencepost--kind-here) "missing-forward-barrier"))
      (let (said)
        (eglot-hover-eldoc-function (lambda (text &rest _) (setq said text)))
        (test-wait "the hover" (lambda () said))
        (should (string-match-p "%a" said))))
    (test-wait "the status" (lambda () (equal " 1 finding, 2 hints" (or (fencepost-status-text) ""))))
    (font-lock-ensure)
    (goto-char (point-min))
    (should (search-forward "ttng.wait_barrier" nil t))
    (should (eq (get-text-property (1- (point)) 'face) 'font-lock-warning-face))))

(ert-deftest fencepost-the-fix-is-applied ()
  (test-with-kernel "fixing.ttgir" nil
    (let ((finding (car (test-findings "missing-forward-barrier"))) (before (buffer-string)))
      (let ((actions (eglot-code-actions (flymake-diagnostic-beg finding) (flymake-diagnostic-end finding) "quickfix"))
            (eglot-confirm-server-edits nil))
        (eglot-execute (eglot-current-server)
                       (seq-find (lambda (it) (eq (plist-get it :isPreferred) t)) actions)))
      (test-wait "the fix" (lambda () (not (equal before (buffer-string)))))
      (eglot--signal-textDocument/didChange)
      (test-wait "the end of the finding" (lambda () (not (test-findings "missing-forward-barrier")))))))

(ert-deftest fencepost-a-run-is-stepped-through ()
  (test-with-kernel "stepping.ttgir" nil
    (let* ((source (current-buffer)) (finding (car (test-findings "missing-forward-barrier"))))
      ;; Beside the finding: the nearest one counts.
      (goto-char (flymake-diagnostic-beg finding))
      (forward-line 3)
      (fencepost-trace)
      (test-wait "the run" (lambda () (get-buffer "*fencepost run*")))
      (with-current-buffer "*fencepost run*"
        (test-wait "its steps" (lambda () fencepost--step))
        (should (string-prefix-p "missing-forward-barrier" (buffer-string)))
        (let ((count (length fencepost--steps)) (lines nil))
          (should (> count 1))
          (dotimes (number count)
            (should (= fencepost--step number))
            (with-current-buffer source
              (let ((said (overlay-get (cadr fencepost--overlays) 'after-string)))
                (should (string-match-p (format "step %d of %d, \\(default\\|partition0\\): " (1+ number) count) said)))
              (push (line-number-at-pos (overlay-start (car fencepost--overlays))) lines))
            (should (looking-at-p (format " *%d " (1+ number))))
            (when (< (1+ number) count) (next-error)))
          (should (> (length (delete-dups lines)) 1))
          (should-error (next-error) :type 'user-error)
          (previous-error)
          (should (= fencepost--step (- count 2)))
          ;; What was drawn is of the text before an edit.
          (with-current-buffer source (goto-char (point-min)) (insert "// a line\n"))
          (next-error)
          (should (string-match-p "of an earlier text" (overlay-get (cadr fencepost--overlays) 'after-string)))))
      (kill-buffer "*fencepost run*")
      (should-not fencepost--overlays)
      ;; Of several findings at one place the kind says which.
      (should (member "uninitialised-read" (fencepost--kinds-found)))
      (fencepost-trace "uninitialised-read")
      (test-wait "the run of that kind" (lambda () (get-buffer "*fencepost run*")))
      (with-current-buffer "*fencepost run*"
        (test-wait "its steps" (lambda () fencepost--step))
        (should (string-prefix-p "uninitialised-read" (buffer-string))))
      (kill-buffer "*fencepost run*"))))

(ert-deftest fencepost-the-report-follows-edits ()
  (test-with-kernel "reports.ttgir" nil
    (let ((says (lambda (text) (and (get-buffer "*fencepost report*")
                                    (with-current-buffer "*fencepost report*"
                                      (save-excursion (goto-char (point-min)) (search-forward text nil t)))))))
      (fencepost-report)
      (test-wait "the report" (lambda () (funcall says "Barrier report of @ws_gemm")))
      (should (funcall says "reports.ttgir:7"))
      (goto-char (point-min))
      (insert "// one line more\n")
      (eglot--signal-textDocument/didChange)
      (test-wait "the new report" (lambda () (funcall says "reports.ttgir:8")))
      (with-current-buffer "*fencepost report*"
        (goto-char (point-min))
        (re-search-forward "line [0-9]+")
        (let ((line (string-to-number (substring (match-string 0) 5))) (source fencepost--source))
          (fencepost-report-visit)
          (should (eq (current-buffer) source))
          (should (= (line-number-at-pos) line))))
      (kill-buffer "*fencepost report*"))))

(ert-deftest fencepost-a-kernel-runs ()
  (let ((fencepost-trusted t) asked)
    (test-with-kernel "small.ttgir"
        "// fencepost-run: ws_gemm grid=1 a_desc=f16[128,320] b_desc=f16[320,128] c_desc=f16[128,128]:nan K=320\n"
      (cl-letf (((symbol-function 'completing-read) (lambda (prompt &rest _) (push prompt asked) "Run")))
        (fencepost-run)
        (test-wait "an assert" (lambda () (seq-some (lambda (it) (string-match-p "fencepost (run)" (flymake-diagnostic-text it)))
                                                    (flymake-diagnostics)))))
      (should (= (length asked) 1))
      (should (string-match-p "ws_gemm grid=1 " (car asked)))))
  (let ((fencepost-trusted nil)) (should-error (fencepost-run) :type 'user-error)))

(ert-deftest fencepost-a-run-is-stopped ()
  (let ((fencepost-trusted t) (test-source (expand-file-name "ring.ttgir" (file-name-directory test-kernel))))
    (test-with-kernel "large.ttgir"
        (concat "// fencepost-run: ws_gemm grid=(16,16) a_desc=f16[2048,8960] b_desc=f16[8960,2048] "
                "c_desc=f16[2048,2048]:nan K=8960\n")
      (cl-letf (((symbol-function 'completing-read) (lambda (&rest _) "Run")))
        (fencepost-run)
        (test-wait "a bar" (lambda () fencepost--bars))
        (fencepost-stop)
        (test-wait "its end" (lambda () (null fencepost--bars))))
      (should-error (fencepost-stop) :type 'user-error)
      (should-not (flymake-diagnostics)))))

(ert-deftest fencepost-a-clean-kernel-has-a-run ()
  (let ((test-source (expand-file-name "ring.ttgir" (file-name-directory test-kernel))))
    (test-with-kernel "clean.ttgir" nil
      (fencepost-trace)
      (test-wait "the run" (lambda () (get-buffer "*fencepost run*")))
      (with-current-buffer "*fencepost run*"
        (test-wait "its steps" (lambda () fencepost--step))
        (should (string-match-p "@ws_gemm" (buffer-string)))
        (next-error)
        (should (= fencepost--step 1))
        (should (looking-at-p (format "[,:'* ]*[0-9]+ +[0-9]+ ")))
        ;; What barriers count stands below the steps that change it.
        (should (seq-some (lambda (step) (string-match-p "\n +\\* %bar\\[0\\]: phase 0, " (nth 2 step)))
                          fencepost--steps)))
      (kill-buffer "*fencepost run*"))))

(ert-deftest fencepost-pages-and-python ()
  (test-with-kernel "pages.ttgir" nil
    (should (member "deadlock" (fencepost--kinds)))
    (fencepost-explain "deadlock")
    (test-wait "the page" (lambda () (get-buffer "*fencepost explain*"))))
  (let* ((gluon (expand-file-name "gluon" (file-name-directory test-kernel))) (folder (make-temp-file "fencepost" t)))
    (make-directory (expand-file-name ".git" folder))
    (copy-file (expand-file-name "ring_tools.py" gluon) (file-name-as-directory folder) t)
    (copy-file (expand-file-name "sum_rows.py" gluon) (file-name-as-directory folder) t)
    (with-current-buffer (find-file-noselect (expand-file-name "sum_rows.py" folder))
      (goto-char (point-min))
      (re-search-forward "mbarrier\\.wait(free.*\n")
      (replace-match "pass\n")
      (save-buffer)
      (switch-to-buffer (current-buffer))
      (fencepost-python-server)
      (should (cl-typep (eglot-current-server) 'fencepost-server))
      (flymake-start)
      (test-wait "a finding" #'flymake-diagnostics)
      (eglot-shutdown (eglot-current-server))
      (kill-buffer))
    (delete-directory folder t)))

(ert-run-tests-batch-and-exit)
;;; run.el ends here
