;;; fencepost.el --- GPU barrier bugs in Gluon and TTGIR  -*- lexical-binding: t; -*-

;; Version: 0.1.0
;; Package-Requires: ((emacs "29.1"))
;; Keywords: languages, tools
;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; A major mode for TTGIR, Fencepost's language server under Eglot, and commands for what the protocol has no
;; request for: the run that leads to a finding, step by step, the barrier report, the page of a kind, running a
;; kernel.  README.md beside this file says how to set it up.

;;; Code:

(require 'eglot)
(require 'jsonrpc)
(require 'seq)

(defgroup fencepost nil
  "GPU barrier bugs in Gluon and TTGIR."
  :group 'languages)

(defcustom fencepost-program "fencepost"
  "The program of Fencepost, a name on the PATH or a path."
  :type 'string)

(defcustom fencepost-trusted nil
  "Whether kernels may be run.  A Python file is run by its own code.
Read when the server starts."
  :type 'boolean)

(defcustom fencepost-python nil
  "The Python that has Triton; nil is that of the active environment.
Read when the server starts."
  :type '(choice (const nil) file))

;;;; The mode

(defconst fencepost--font-lock
  `((,(rx "//" (* nonl)) . font-lock-comment-face)
    (,(rx symbol-start (or "ttg" "ttng" "tlx" "nvws" "gpu" "amdg") "." (* (any "a-z0-9_"))
          (or "barrier" "fence" "commit" "wait") (* (any "a-z0-9_")))
     . font-lock-warning-face)
    (,(rx symbol-start (or "tt" "ttg" "ttng" "nvws" "amdg" "tlx" "tti" "proton" "gluon" "arith" "math" "scf" "cf"
                           "func" "ub" "gpu" "llvm" "nvvm" "builtin")
          "." (any "a-z") (* (any "a-zA-Z0-9_.")))
     . font-lock-keyword-face)
    (,(rx "@" (+ (any "a-zA-Z0-9_$."))) . font-lock-function-name-face)
    (,(rx "%" (+ (any "a-zA-Z0-9_$.-")) (? (any ":#") (+ digit))) . font-lock-variable-name-face)
    (,(rx "^" (+ (any "a-zA-Z0-9_$."))) . font-lock-constant-face)
    (,(rx (any "#!") (any "a-z") (* (any "a-zA-Z0-9_$."))) . font-lock-preprocessor-face)
    (,(rx symbol-start (or (seq (? (any "su")) "i" (+ digit)) (seq (? "t") "f" (+ digit)) "bf16" "index" "tensor"
                           "vector" "memref")
          symbol-end)
     . font-lock-type-face)
    (,(rx symbol-start (or "module" "attributes" "loc" "callsite" "fused" "iter_args" "to" "step" "else" "do" "while"
                           "default" "public" "private")
          symbol-end)
     . font-lock-keyword-face)
    (,(rx symbol-start (or "true" "false" "unit" "dense" "unknown") symbol-end) . font-lock-constant-face))
  "Colours of TTGIR; what a kernel means, the server says.")

(defvar ttgir-mode-syntax-table
  (let ((table (make-syntax-table)))
    (modify-syntax-entry ?/ ". 12" table)
    (modify-syntax-entry ?\n ">" table)
    (modify-syntax-entry ?\" "\"" table)
    (modify-syntax-entry ?_ "_" table)
    table))

;;;###autoload
(define-derived-mode ttgir-mode prog-mode "TTGIR"
  "Triton's GPU-level MLIR, and what becomes of Gluon kernels."
  (setq-local comment-start "// " comment-start-skip "//+\\s-*")
  (setq-local font-lock-defaults '(fencepost--font-lock))
  (setq-local mode-line-process '(:eval (fencepost-status-text))))

;;;###autoload
(add-to-list 'auto-mode-alist '("\\.tt\\(?:g\\)?ir\\'" . ttgir-mode))

;;;; The server

(defclass fencepost-server (eglot-lsp-server) ()
  :documentation "Fencepost's language server.")

(defvar fencepost--statuses (make-hash-table :test #'equal)
  "What the server said last of each document, by its URI.")

(defun fencepost--contact (&rest _)
  "How Eglot starts the server."
  `(fencepost-server ,fencepost-program "lsp" :initializationOptions ,(fencepost--options)))

(defun fencepost--options ()
  "What the server is told when it starts."
  (append (list :trusted (if fencepost-trusted t :json-false))
          (and fencepost-python (list :python (expand-file-name fencepost-python)))))

(cl-defmethod eglot-client-capabilities :around ((_ fencepost-server))
  "Announce that the status of kernels is shown."
  (plist-put (copy-sequence (cl-call-next-method)) :experimental '(:fencepostStatus t)))

(add-to-list 'eglot-server-programs '(ttgir-mode . fencepost--contact))

;;;###autoload
(defun fencepost-python-server ()
  "Serve the Python of this project by Fencepost, instead of another server.
Eglot has one server for the files of a mode in a project."
  (interactive)
  (let ((eglot-server-programs `(((python-mode python-ts-mode) . fencepost--contact) ,@eglot-server-programs)))
    (apply #'eglot (eglot--guess-contact))))

(cl-defmethod eglot-handle-notification
  ((_ fencepost-server) (_method (eql fencepost/status)) &rest status &key uri &allow-other-keys)
  "Keep the STATUS of the kernels of the document URI."
  (puthash uri status fencepost--statuses)
  (force-mode-line-update t))

(defun fencepost--uri (&optional buffer)
  "The URI by which the server knows BUFFER; nil where none is attached."
  (with-current-buffer (or buffer (current-buffer))
    (and (eglot-current-server) (plist-get (eglot--TextDocumentIdentifier) :uri))))

(defun fencepost-status-text ()
  "How far the analysis of the buffer is; nil where there is no kernel."
  (when-let* ((uri (fencepost--uri))
              (status (gethash uri fencepost--statuses))
              (kernels (append (plist-get status :kernels) nil)))
    (let ((findings (apply #'+ (mapcar (lambda (kernel) (plist-get kernel :findings)) kernels)))
          (hints (apply #'+ (mapcar (lambda (kernel) (plist-get kernel :hints)) kernels)))
          (parts nil))
      (when (> hints 0) (push (format "%d hint%s" hints (if (= hints 1) "" "s")) parts))
      (dolist (state '("clean" "proved" "stale" "undecided"))
        (let ((count (seq-count (lambda (kernel) (equal (plist-get kernel :state) state)) kernels)))
          (when (> count 0) (push (format "%d %s" count state) parts))))
      (when (> findings 0) (push (format "%d finding%s" findings (if (= findings 1) "" "s")) parts))
      (unless (equal (plist-get status :state) "done") (push "analysing" parts))
      (concat " " (string-join parts ", ")))))

(defun fencepost--server ()
  "The server of the buffer, which must be there."
  (let ((server (eglot-current-server)))
    (unless (cl-typep server 'fencepost-server)
      (user-error "Fencepost does not serve this buffer: M-x eglot, in Python M-x fencepost-python-server"))
    server))

(defun fencepost--ask (server method params done)
  "Ask SERVER by METHOD with PARAMS and hand the answer to DONE."
  (jsonrpc-async-request server method params
                         :success-fn done
                         :error-fn (lambda (error) (message "Fencepost: %s" (plist-get error :message)))))

(defun fencepost--place ()
  "Where point is, as the protocol says it."
  (list :textDocument (eglot--TextDocumentIdentifier) :position (eglot--pos-to-lsp-position)))

(defun fencepost--region (range)
  "The beginning and end of RANGE in the current buffer, as a pair."
  (if (fboundp 'eglot-range-region)
      (eglot-range-region range)
    (with-no-warnings (eglot--range-region range))))

;;;; The run of a finding

(defface fencepost-step '((t :inherit highlight)) "The op of the step that is shown.")
(defface fencepost-step-text '((t :inherit (italic shadow))) "What happens at it.")

(defvar-local fencepost--source nil "The buffer that a run or report is about.")
(defvar-local fencepost--steps nil "Steps of the run, a vector of (MARKER END WORDS LINE).")
(defvar-local fencepost--step nil "Index of the step that is shown.")
(defvar-local fencepost--tick nil "The text of the source that the run is of.")
(defvar fencepost--overlays nil "Show the step in the source.")

(defvar fencepost-run-mode-map
  (let ((map (make-sparse-keymap)))
    (define-key map "n" #'next-error-no-select)
    (define-key map "p" #'previous-error-no-select)
    (define-key map (kbd "RET") #'fencepost-step-here)
    map))

(define-derived-mode fencepost-run-mode special-mode "Fencepost-Run"
  "The run of a finding, a lane for each partition.
\\<fencepost-run-mode-map>\\[next-error-no-select] and \\[previous-error-no-select] go from step to step in the code;
\\[next-error] and \\[previous-error] do so from anywhere."
  (setq-local truncate-lines t)
  (setq next-error-function #'fencepost--go)
  (add-hook 'kill-buffer-hook #'fencepost--clear nil t))

(defun fencepost--clear ()
  "Show no step any more."
  (mapc #'delete-overlay fencepost--overlays)
  (setq fencepost--overlays nil))

(defun fencepost--go (by &optional reset)
  "Go BY steps on in the run of this buffer; with RESET from before the first."
  (let* ((count (length fencepost--steps))
         (next (+ (if (or reset (not fencepost--step)) -1 fencepost--step) by)))
    (cond ((= count 0) (user-error "No steps"))
          ((< next 0) (user-error "This is the first step"))
          ((>= next count) (user-error "This is the last step")))
    (fencepost--show-step next)))

(defun fencepost--show-step (number)
  "Show the step of index NUMBER in the source."
  (setq fencepost--step number)
  (pcase-let* ((`(,from ,to ,words ,line) (aref fencepost--steps number))
               (old (/= fencepost--tick (buffer-chars-modified-tick fencepost--source)))
               (text (format "\n    ^ step %d of %d%s, %s" (1+ number) (length fencepost--steps)
                             (if old " (of an earlier text: M-x fencepost-trace)" "") words)))
    (goto-char (point-min))
    (forward-line (1- line))
    (dolist (window (get-buffer-window-list nil nil t)) (set-window-point window (point)))
    (let ((window (or (get-buffer-window fencepost--source t)
                      (display-buffer fencepost--source '(nil (inhibit-same-window . t))))))
      (with-current-buffer fencepost--source
        (fencepost--clear)
        (goto-char from)
        (when window
          (set-window-point window from)
          ;; What stands below the line has to be seen, too.
          (with-selected-window window (recenter)))
        (let ((op (make-overlay from to))
              (end (make-overlay (line-end-position) (line-end-position))))
          (overlay-put op 'face 'fencepost-step)
          (overlay-put end 'after-string (propertize text 'face 'fencepost-step-text))
          (setq fencepost--overlays (list op end)))))))

(defun fencepost-step-here ()
  "Go to the step that the line of the drawing is about."
  (interactive)
  (let* ((here (line-number-at-pos))
         (before (seq-filter (lambda (index) (<= (nth 3 (aref fencepost--steps index)) here))
                             (number-sequence 0 (1- (length fencepost--steps))))))
    (unless before (user-error "No step here"))
    (fencepost--show-step (car (last before)))
    (pop-to-buffer fencepost--source)))

(defun fencepost--draw (source name text mode)
  "Show TEXT about SOURCE in a buffer called NAME in MODE; give that buffer."
  (let ((buffer (get-buffer-create name)))
    (with-current-buffer buffer
      (funcall mode)
      (setq fencepost--source source)
      (let ((inhibit-read-only t) (at (point)))
        (erase-buffer)
        (insert text)
        (goto-char (min at (point-max)))))
    (display-buffer buffer)
    buffer))

(defun fencepost--open-run (source run)
  "Show the RUN that the server sent of SOURCE."
  (let* ((of-finding (plist-get run :kind))
         (head (if of-finding
                   (with-temp-buffer
                     (insert (plist-get run :message))
                     (let ((fill-column (- (frame-width) 2))) (fill-region (point-min) (point-max)))
                     (format "%s\n%s\n\n" of-finding (buffer-string)))
                 ""))
         (buffer (fencepost--draw source "*fencepost run*" (concat head (plist-get run :text)) #'fencepost-run-mode))
         (steps (append (plist-get run :steps) nil)))
    (with-current-buffer buffer
      (setq fencepost--tick (buffer-chars-modified-tick source))
      (setq fencepost--step nil)
      (setq fencepost--steps
            (vconcat
             (seq-map-indexed
              (lambda (step index)
                (with-current-buffer source
                  (pcase-let ((`(,from . ,to) (fencepost--region (plist-get (plist-get step :location) :range))))
                    (list (copy-marker from) (copy-marker to)
                          (concat (format "%s: %s" (plist-get step :partition) (plist-get step :text))
                                  (fencepost--barriers step))
                          (with-current-buffer buffer
                            (fencepost--line-of (if of-finding (1+ index) (plist-get step :number))))))))
              steps)))
      (setq next-error-last-buffer buffer)
      (when steps (fencepost--go 1)))))

(defun fencepost--line-of (number)
  "The line of the drawing in this buffer at which step NUMBER begins."
  (save-excursion
    (goto-char (point-min))
    (if (re-search-forward (format "^[,:'* ]*%d +[0-9]+ " number) nil t) (line-number-at-pos) 1)))

(defun fencepost--barriers (step)
  "What barriers count after STEP, a line each.
Those that the finding is about, and those that STEP has changed."
  (mapconcat (lambda (barrier)
               (let ((changed (eq (plist-get barrier :changed) t)))
                 (if (or changed (eq (plist-get barrier :concerned) t))
                     (format "\n      %s %s: %s" (if changed "*" " ") (plist-get barrier :name) (plist-get barrier :words))
                   "")))
             (plist-get step :barriers) ""))

;;;###autoload
(defun fencepost-trace (&optional kind)
  "Show the run that leads to the finding at or near point, step by step.
With a prefix argument ask of which KIND, where there are several.
\\[next-error] and \\[previous-error] go through its steps.  Of a kernel without findings a run is drawn."
  (interactive (list (and current-prefix-arg (completing-read "Kind: " (fencepost--kinds-found) nil t))))
  (let* ((server (fencepost--server)) (source (current-buffer)) (place (fencepost--place))
         (width (list :width (- (frame-width) 2))))
    (fencepost--ask
     server :fencepost/run (append place '(:nearest t) (and kind (list :kind kind)) width)
     (lambda (run)
       (cond
        (run (fencepost--open-run source run))
        (kind (message "Fencepost: no finding of kind %s in this kernel" kind))
        (t
         (fencepost--ask
          server :fencepost/timeline
          (append (list :uri (plist-get (plist-get place :textDocument) :uri)
                        :position (plist-get place :position))
                  width)
          (lambda (drawing)
            (cond ((not drawing) (message "Fencepost: no kernel here"))
                  ((> (length (plist-get drawing :steps)) 0) (fencepost--open-run source drawing))
                  (t (fencepost--draw source "*fencepost run*" (plist-get drawing :text)
                                      #'fencepost-run-mode)))))))))))

(defun fencepost--kinds-found ()
  "The kinds of the findings of the buffer."
  (seq-uniq (seq-keep (lambda (it) (plist-get (alist-get 'eglot-lsp-diag (flymake-diagnostic-data it)) :code))
                      (flymake-diagnostics))))

;;;; The barrier report

(defvar fencepost-report-mode-map
  (let ((map (make-sparse-keymap)))
    (define-key map (kbd "RET") #'fencepost-report-visit)
    map))

(define-derived-mode fencepost-report-mode special-mode "Fencepost-Report"
  "The barrier report of a kernel; \\[fencepost-report-visit] goes to the line that is named at point."
  (setq-local truncate-lines t))

(defun fencepost-report-visit ()
  "Go to the line of the kernel that the report names at or before point."
  (interactive)
  (let* ((named "\\(?:\\_<lines? \\|, \\|^ +\\)\\([0-9]+\\)\\_>")
         (line (save-excursion
                 (skip-chars-forward "0-9")
                 (and (or (re-search-backward named (line-beginning-position) t)
                          (re-search-forward named (line-end-position) t))
                      (string-to-number (match-string 1))))))
    (unless line (user-error "No line is named here"))
    (pop-to-buffer fencepost--source)
    (goto-char (point-min))
    (forward-line (1- line))))

(defun fencepost--report (server source)
  "Ask SERVER for the report of SOURCE and show it."
  (let ((uri (fencepost--uri source)))
    (fencepost--ask server :fencepost/reportText (list :uri uri :width 100)
                    (lambda (report)
                      (when report
                        (fencepost--draw source "*fencepost report*" (plist-get report :text)
                                         #'fencepost-report-mode))))))

;;;###autoload
(defun fencepost-report ()
  "Show the barrier report of the buffer, which follows its edits."
  (interactive)
  (fencepost--report (fencepost--server) (current-buffer)))

(cl-defmethod eglot-handle-notification
  ((server fencepost-server) (_method (eql fencepost/reportChanged)) &key uri &allow-other-keys)
  "Ask for the report of URI anew where it is shown."
  (when-let* ((report (get-buffer "*fencepost report*"))
              (source (buffer-local-value 'fencepost--source report)))
    (when (and (buffer-live-p source) (equal uri (fencepost--uri source)))
      (fencepost--report server source))))

;;;; Pages and runs

;;;###autoload
(defun fencepost-explain (kind)
  "Show the page of KIND, by default that of the finding at point."
  (interactive
   (let ((kinds (fencepost--kinds)) (here (fencepost--kind-here)))
     (list (completing-read (format-prompt "Kind" here) kinds nil t nil nil here))))
  (let ((source (current-buffer)))
    (fencepost--ask (fencepost--server) :fencepost/explain (list :kind kind)
                    (lambda (page)
                      (if page (fencepost--draw source "*fencepost explain*" page #'special-mode)
                        (message "Fencepost: there is no kind %s" kind))))))

(defun fencepost--kind-here ()
  "The kind of the worst finding at point, or else on its line."
  (let* ((own (lambda (it) (alist-get 'eglot-lsp-diag (flymake-diagnostic-data it))))
         (found (or (flymake-diagnostics (point))
                    (flymake-diagnostics (line-beginning-position) (line-end-position))))
         (worst (car (sort (seq-keep own found)
                           (lambda (one other) (< (plist-get one :severity) (plist-get other :severity)))))))
    (plist-get worst :code)))

(defun fencepost--kinds ()
  "The names of all kinds, as the program lists them."
  (seq-keep (lambda (line) (and (string-match "^\\([a-z]+[a-z-]+\\)\\s-" line) (match-string 1 line)))
            (process-lines fencepost-program "explain")))

;;;###autoload
(defun fencepost-run (&optional gpu)
  "Run the kernels of the buffer under instrumentation on the CPU.
With GPU, the prefix argument, they run on a GPU with your own Triton.
The server shows how they are launched before the first run.  What is
asserted becomes diagnostics."
  (interactive "P")
  (unless fencepost-trusted
    (user-error "Nothing runs unless `fencepost-trusted' is set, and the server started anew"))
  (fencepost--ask (fencepost--server) :workspace/executeCommand
                  (list :command "fencepost.runKernel"
                        :arguments (vector (list :uri (fencepost--uri) :backend (if gpu "gpu" "cpu")
                                                 :instrument "consan")))
                  #'ignore))

;; What goes on: the token of each bar that has a stop button, by its server.
(defvar fencepost--bars nil)

(cl-defmethod eglot-handle-notification :before
  ((server fencepost-server) (_method (eql $/progress)) &key token value)
  "Remember what SERVER is at by TOKEN until VALUE says that it has ended."
  (pcase (plist-get value :kind)
    ("begin" (when (eq (plist-get value :cancellable) t) (push (cons server token) fencepost--bars)))
    ("end" (setq fencepost--bars (delete (cons server token) fencepost--bars)))))

(defun fencepost-stop ()
  "End the run, or the analysis, that goes on."
  (interactive)
  (let* ((server (fencepost--server)) (own (seq-filter (lambda (bar) (eq (car bar) server)) fencepost--bars)))
    (unless own (user-error "Nothing goes on that could be stopped"))
    (dolist (bar own)
      (jsonrpc-notify server :window/workDoneProgress/cancel (list :token (cdr bar))))))

(provide 'fencepost)
;;; fencepost.el ends here
