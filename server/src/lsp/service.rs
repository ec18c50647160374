//! The handlers: each sends one message; requests wait for their answer.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use base::{Cancel, Cancelled};
use engine::is_python;
use serde_json::Value;
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::oneshot;
use tower_lsp::jsonrpc::{Error, ErrorCode, Result};
use tower_lsp::ls_types::*;
use tower_lsp::{Client, LanguageServer};

use super::content::Page;
use super::document::Snapshot;
use super::facts::Facts;
use super::outbox::Outbox;
use super::report::{self, ReportParams, ReportText};
use super::requests::{self, ExplainParams, RunAnswer, RunParams};
use super::runs::{self, Gate, Offers};
use super::state::{Message, Need, PATIENCE, Refusal, State};
use super::worker::guard;
use super::{actions, capabilities, hover, outline, progress, python};
use crate::workspace::absolute;

/// The service that tower-lsp calls.
pub struct Service {
    send: UnboundedSender<Message>,
    outbox: Outbox,
    facts: OnceLock<Arc<Facts>>,
    orderly: Arc<AtomicBool>,
}

impl Service {
    /// Starts the state thread; `orderly` is set once the client has asked to shut down.
    pub fn new(client: Client, orderly: Arc<AtomicBool>, gate: Arc<Gate>) -> Service {
        let outbox = Outbox::new(client.clone());
        let send = State::start(client, outbox.clone(), gate);
        Service { send, outbox, facts: OnceLock::new(), orderly }
    }

    /// A closed channel means that the process is about to end.
    fn tell(&self, message: Message) {
        let _ = self.send.send(message);
    }

    /// Answers a request by `work` on a snapshot, off the state thread. Nothing is sent before
    /// the first poll and the message goes out before the first await, so messages keep their
    /// order. A cancelled request drops the receiver, which `work` notices before it starts.
    async fn ask<R: Send + 'static>(
        &self,
        what: &'static str,
        uri: Uri,
        need: Need,
        work: impl FnOnce(&Snapshot) -> R + Send + 'static,
    ) -> Result<Option<R>> {
        self.ask_long(what, uri, need, move |snapshot, _| Ok(work(snapshot))).await
    }

    /// The same for work that takes long enough to be stopped: when the request is cancelled, or the
    /// document gets another text.
    async fn ask_long<R: Send + 'static>(
        &self,
        what: &'static str,
        uri: Uri,
        need: Need,
        work: impl FnOnce(&Snapshot, &Cancel<'_>) -> std::result::Result<R, Cancelled> + Send + 'static,
    ) -> Result<Option<R>> {
        let (send, receive) = oneshot::channel();
        let outbox = self.outbox.clone();
        let reply = move |snapshot: std::result::Result<Snapshot, Refusal>| {
            if send.is_closed() {
                return;
            }
            let answer = match snapshot {
                Ok(snapshot) => {
                    let stop = || send.is_closed() || snapshot.desk.is_outdated();
                    match guard(what, &outbox, || work(&snapshot, &Cancel::when(&stop))) {
                        Ok(Ok(answer)) => Ok(Some(answer)),
                        Ok(Err(Cancelled)) => Err(Error::content_modified()),
                        Err(panic) => Err(internal(panic)),
                    }
                }
                Err(Refusal::Unknown) => Ok(None),
                Err(Refusal::Outdated) => Err(Error::content_modified()),
            };
            // The receiver may be gone by now; then nobody wants the answer.
            let _ = send.send(answer);
        };
        self.tell(Message::Ask { uri, need, reply: Box::new(reply) });
        receive.await.unwrap_or_else(|_| Err(Error::request_cancelled()))
    }

    /// `fencepost/run`.
    pub async fn run(&self, params: RunParams) -> Result<Option<RunAnswer>> {
        let uri = params.text_document.uri.clone();
        let answer = self.ask("the run", uri, Need::AnalysisNow, move |snapshot| requests::run(snapshot, &params));
        Ok(answer.await?.flatten())
    }

    /// `fencepost/report`: the document that `fencepost report --format json` prints.
    pub async fn report(&self, params: ReportParams) -> Result<Option<Value>> {
        let uri = params.uri.clone();
        self.patience(&uri).await;
        self.ask_long("the report", uri, Need::Text, move |it, cancel| report::document(it, &params, cancel)).await
    }

    /// `fencepost/reportText`: the same for people. From now on `fencepost/reportChanged` says when
    /// to ask again.
    pub async fn report_text(&self, params: ReportParams) -> Result<Option<ReportText>> {
        self.tell(Message::Watch { uri: params.uri.clone(), page: None });
        self.newest_report(params).await
    }

    /// `workspace/textDocumentContent`: a report as a document of the client.
    pub async fn report_page(&self, page: Page) -> Result<Page> {
        let text = |text: String| Ok(Page { uri: None, text: Some(text) });
        let name = page.uri.unwrap_or_default();
        let Some(asked) = report::of_page(&name) else { return text(format!("There is no page {name}.\n")) };
        for params in asked {
            self.tell(Message::Watch { uri: params.uri.clone(), page: Some(name.clone()) });
            if let Some(report) = self.newest_report(params).await? {
                return text(report.text);
            }
        }
        text("The file is not open; open it to see its barrier report.\n".to_owned())
    }

    /// A report of the newest text, however often it changes meanwhile.
    async fn newest_report(&self, params: ReportParams) -> Result<Option<ReportText>> {
        self.patience(&params.uri).await;
        loop {
            let (uri, asked) = (params.uri.clone(), params.clone());
            let work = move |it: &Snapshot, cancel: &Cancel<'_>| report::text(it, &asked, cancel);
            match self.ask_long("the report", uri, Need::Text, work).await {
                Err(error) if error.code == ErrorCode::ContentModified => {}
                answer => return answer,
            }
        }
    }

    /// Waits for the analysis, which remembers what a report needs, but not long.
    async fn patience(&self, uri: &Uri) {
        let analysed = self.ask("the analysis", uri.clone(), Need::AnalysisNewest, |_| ());
        let _ = tokio::time::timeout(PATIENCE, analysed).await;
    }

    /// `fencepost/explain`.
    pub async fn explain(&self, params: ExplainParams) -> Result<Option<&'static str>> {
        Ok(requests::explain(&params))
    }

    /// `window/workDoneProgress/cancel`, which tower-lsp does not know.
    pub async fn cancel_progress(&self, params: WorkDoneProgressCancelParams) {
        if let Some(job) = progress::job(&params.token) {
            self.tell(Message::Cancel { job });
        }
        if let Some(id) = runs::id(&params.token) {
            self.tell(Message::StopRun { id });
        }
    }
}

/// The folders of the workspace.
fn folders(params: &InitializeParams) -> Vec<PathBuf> {
    let named = params.workspace_folders.iter().flatten().filter_map(|folder| folder.uri.to_file_path());
    let mut folders: Vec<PathBuf> = named.map(|path| absolute(&path)).collect();
    #[allow(deprecated, reason = "clients that know no folders name a root")]
    if let (true, Some(root)) = (folders.is_empty(), params.root_uri.as_ref().and_then(Uri::to_file_path)) {
        folders.push(absolute(&root));
    }
    folders
}

fn internal(text: String) -> Error {
    Error { code: ErrorCode::InternalError, message: text.into(), data: None }
}

impl LanguageServer for Service {
    async fn initialize(&self, params: InitializeParams) -> Result<InitializeResult> {
        let offers = Offers::of(params.initialization_options.as_ref());
        let facts = Arc::new(Facts::of(&params.capabilities, offers));
        let facts = self.facts.get_or_init(|| facts);
        tracing::info!(?facts, "client {:?}", params.client_info);
        self.tell(Message::Folders(folders(&params)));
        self.tell(Message::Client(facts.clone()));
        Ok(InitializeResult {
            capabilities: capabilities::server_capabilities(facts),
            server_info: Some(ServerInfo {
                name: "fencepost".to_owned(),
                version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            }),
            ..InitializeResult::default()
        })
    }

    async fn shutdown(&self) -> Result<()> {
        self.orderly.store(true, Ordering::SeqCst);
        self.tell(Message::Shutdown);
        Ok(())
    }

    async fn did_open(&self, params: DidOpenTextDocumentParams) {
        let document = params.text_document;
        let TextDocumentItem { uri, language_id, version, text } = document;
        self.tell(Message::Open { uri, language: language_id, version, text });
    }

    async fn did_change(&self, params: DidChangeTextDocumentParams) {
        let VersionedTextDocumentIdentifier { uri, version } = params.text_document;
        self.tell(Message::Change { uri, version, changes: params.content_changes });
    }

    async fn did_save(&self, params: DidSaveTextDocumentParams) {
        // Only of Python does what is on disk matter.
        if is_python(params.text_document.uri.path().as_str()) {
            self.tell(Message::Files);
        }
    }

    async fn did_change_watched_files(&self, _: DidChangeWatchedFilesParams) {
        self.tell(Message::Files);
    }

    async fn did_close(&self, params: DidCloseTextDocumentParams) {
        self.tell(Message::Close { uri: params.text_document.uri });
    }

    async fn diagnostic(&self, params: DocumentDiagnosticParams) -> Result<DocumentDiagnosticReportResult> {
        let previous = params.previous_result_id;
        let report = move |snapshot: &Snapshot| match &snapshot.checked {
            Some(checked) if previous.as_deref() == Some(&checked.result_id) => {
                let unchanged = UnchangedDocumentDiagnosticReport { result_id: checked.result_id.clone() };
                DocumentDiagnosticReport::Unchanged(RelatedUnchangedDocumentDiagnosticReport {
                    related_documents: None,
                    unchanged_document_diagnostic_report: unchanged,
                })
            }
            Some(checked) => full(Some(checked.result_id.clone()), checked.diagnostics.clone()),
            None => full(None, Vec::new()),
        };
        let answer = self.ask("diagnostics", params.text_document.uri, Need::AnalysisNewest, report).await?;
        Ok(answer.unwrap_or_else(|| full(None, Vec::new())).into())
    }

    async fn hover(&self, params: HoverParams) -> Result<Option<Hover>> {
        let TextDocumentPositionParams { text_document, position } = params.text_document_position_params;
        let answer = self.ask("hover", text_document.uri, Need::Text, move |it| hover::hover(it, position));
        Ok(answer.await?.flatten())
    }

    async fn goto_definition(&self, params: GotoDefinitionParams) -> Result<Option<GotoDefinitionResponse>> {
        let TextDocumentPositionParams { text_document, position } = params.text_document_position_params;
        let answer = self.ask("definition", text_document.uri, Need::Text, move |it| outline::definition(it, position));
        Ok(answer.await?.flatten())
    }

    async fn references(&self, params: ReferenceParams) -> Result<Option<Vec<Location>>> {
        let TextDocumentPositionParams { text_document, position } = params.text_document_position;
        let declaration = params.context.include_declaration;
        let work = move |it: &Snapshot| outline::references(it, position, declaration);
        self.ask("references", text_document.uri, Need::Text, work).await
    }

    async fn document_highlight(&self, params: DocumentHighlightParams) -> Result<Option<Vec<DocumentHighlight>>> {
        let TextDocumentPositionParams { text_document, position } = params.text_document_position_params;
        self.ask("highlights", text_document.uri, Need::Text, move |it| outline::highlights(it, position)).await
    }

    async fn document_symbol(&self, params: DocumentSymbolParams) -> Result<Option<DocumentSymbolResponse>> {
        self.ask("symbols", params.text_document.uri, Need::Text, outline::symbols).await
    }

    async fn folding_range(&self, params: FoldingRangeParams) -> Result<Option<Vec<FoldingRange>>> {
        self.ask("folds", params.text_document.uri, Need::Text, outline::folds).await
    }

    async fn inlay_hint(&self, params: InlayHintParams) -> Result<Option<Vec<InlayHint>>> {
        let work = move |it: &Snapshot| python::hints(it, params.range);
        self.ask("inlay hints", params.text_document.uri, Need::Text, work).await
    }

    async fn code_lens(&self, params: CodeLensParams) -> Result<Option<Vec<CodeLens>>> {
        let work = |it: &Snapshot| {
            let mut lenses = if it.facts.lenses { report::lenses(it) } else { Vec::new() };
            lenses.extend(runs::lenses(it));
            lenses
        };
        self.ask("code lenses", params.text_document.uri, Need::Text, work).await
    }

    async fn execute_command(&self, params: ExecuteCommandParams) -> Result<Option<Value>> {
        if params.command != runs::COMMAND {
            return Err(Error::invalid_params(format!("there is no command `{}`", params.command)));
        }
        let order = params.arguments.into_iter().next().map(serde_json::from_value::<runs::Order>);
        match order {
            Some(Ok(order)) => self.tell(Message::Run(order)),
            Some(Err(error)) => return Err(Error::invalid_params(error.to_string())),
            None => return Err(Error::invalid_params("which document?")),
        }
        Ok(None)
    }

    async fn code_action(&self, params: CodeActionParams) -> Result<Option<CodeActionResponse>> {
        let uri = params.text_document.uri.clone();
        self.ask("code actions", uri, Need::AnalysisNow, move |snapshot| actions::code_actions(snapshot, &params)).await
    }
}

fn full(result_id: Option<String>, items: Vec<Diagnostic>) -> DocumentDiagnosticReport {
    DocumentDiagnosticReport::Full(RelatedFullDocumentDiagnosticReport {
        related_documents: None,
        full_document_diagnostic_report: FullDocumentDiagnosticReport { result_id, items },
    })
}
