//! Routes requests and notifications: each sends one message to the state thread, requests wait for their answer.

use std::sync::{Arc, OnceLock};

use base::{Cancel, Cancelled};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::oneshot;
use tokio::time::timeout;
use tower_lsp::jsonrpc::{Error, ErrorCode, Result};
use tower_lsp::ls_types::*;
use transport::progress::Job;
use transport::{Answer, CONTENT_METHOD, Client, ClientSender, ContentDocument, LanguageService, Lost};

use super::client_config::{ClientConfig, SHOW_PYTHON, SHOW_VERDICT};
use super::document::Refusal;
use super::extensions::{
    ELABORATED_IR, EXPLAIN, FINDING_RUN, LINKED_RANGES, REPORT, REPORT_HTML, REPORT_TEXT, TIMELINE,
};
use super::handlers::code_lens::KernelLens;
use super::handlers::elaborated_ir::{self, ElaboratedIr, ElaboratedIrParams};
use super::handlers::explain::{self, ExplainParams};
use super::handlers::finding_run::{self, FindingRun, FindingRunParams};
use super::handlers::linked_ranges::{self, LinkedRanges, LinkedRangesParams};
use super::handlers::report::{self, ReportHtml, ReportParams, ReportText};
use super::handlers::timeline::{self, TimelineParams, TimelineText};
use super::handlers::{
    call_hierarchy, code_action, code_lens, completion, deferred, definition, diagnostic, document_link,
    document_symbol, execute_command, folding_range, hover, implementation, initialize, inlay_hint, references, rename,
    report_page, selection_range, semantic_tokens, signature_help, text_sync, type_definition, workspace_symbol,
};
use super::panics::{catch_panic, inject};
use super::runs::ActiveRuns;
use super::runs::waiting::RunWaiter;
use super::session_snapshot::{SessionFiles, SessionSnapshot};
use super::snapshot::Snapshot;
use super::state::{Need, REPORT_TIMEOUT, SessionState, StateMessage};
use super::workspace_diagnostics;
use workspace::FileSystem;

/// The protocol's `RequestFailed`.
const REQUEST_FAILED: i64 = -32803;

/// The service that the wire calls.
pub(crate) struct Service {
    state: UnboundedSender<StateMessage>,
    sender: ClientSender,
    client: OnceLock<Arc<ClientConfig>>,
    /// What is needed to look at files that are not open.
    files: workspace_diagnostics::Context,
}

impl Service {
    /// Starts the state thread.
    pub(crate) fn new(client: Client, active_runs: Arc<ActiveRuns>, file_system: Arc<dyn FileSystem>) -> Service {
        let sender = ClientSender::new(client.clone());
        let (asked, disk) = (client.clone(), file_system.clone());
        let state = SessionState::start(client, sender.clone(), active_runs, file_system);
        let files = workspace_diagnostics::Context {
            state: state.clone(),
            sender: sender.clone(),
            client: asked,
            disk,
            known: Arc::default(),
        };
        Service { state, sender, client: OnceLock::new(), files }
    }

    /// A closed channel means that the process is about to end.
    fn send(&self, message: StateMessage) {
        let _ = self.state.send(message);
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
        self.ask_cancellable(what, uri, need, move |snapshot, _| Ok(work(snapshot))).await
    }

    /// The same for work that takes long enough to be stopped: when the request is cancelled, or the
    /// document gets another text.
    async fn ask_cancellable<R: Send + 'static>(
        &self,
        what: &'static str,
        uri: Uri,
        need: Need,
        work: impl FnOnce(&Snapshot, &Cancel<'_>) -> std::result::Result<R, Cancelled> + Send + 'static,
    ) -> Result<Option<R>> {
        let (send, receive) = oneshot::channel();
        let sender = self.sender.clone();
        let reply = move |snapshot: std::result::Result<Snapshot, Refusal>| {
            if send.is_closed() {
                return;
            }
            let answer = match snapshot {
                Ok(snapshot) => {
                    let stop = || send.is_closed() || snapshot.cache.is_outdated();
                    match catch_panic(what, &sender, || work(&snapshot, &Cancel::when(&stop))) {
                        Ok(Ok(answer)) => Ok(Some(answer)),
                        Ok(Err(Cancelled)) => Err(Error::content_modified()),
                        Err(panic) => Err(internal_error(panic)),
                    }
                }
                Err(Refusal::UnknownDocument) => Ok(None),
                Err(Refusal::Outdated) => Err(Error::content_modified()),
            };
            // The receiver may be gone by now; then nobody wants the answer.
            let _ = send.send(answer);
        };
        self.send(StateMessage::Request { uri, need, reply: Box::new(reply) });
        // Nobody answers where the state thread has panicked.
        receive.await.unwrap_or_else(|_| Err(internal_error(format!("{what} got no answer"))))
    }

    /// Answers a request that leads from one document to others. It is refused where the document gets another text.
    async fn ask_across<R: Send + 'static>(
        &self,
        what: &'static str,
        uri: Uri,
        work: impl FnOnce(&Snapshot, &SessionSnapshot, &SessionFiles<'_>) -> R + Send + 'static,
    ) -> Result<Option<R>> {
        let across = move |session: &SessionSnapshot, stop: &(dyn Fn() -> bool + Sync)| {
            let document = session.document(&uri)?;
            let stop = || stop() || document.cache.is_outdated();
            let cancel = Cancel::when(&stop);
            Some(work(document, session, &session.files(&cancel)))
        };
        self.ask_session(what, across).await
    }

    /// Answers a request about all open documents and the workspace; `work` is told when nobody wants the answer.
    async fn ask_session<R: Send + 'static>(
        &self,
        what: &'static str,
        work: impl FnOnce(&SessionSnapshot, &(dyn Fn() -> bool + Sync)) -> R + Send + 'static,
    ) -> Result<R> {
        let (send, receive) = oneshot::channel();
        let sender = self.sender.clone();
        let reply = move |session: &SessionSnapshot| {
            if send.is_closed() {
                return;
            }
            let stop = || send.is_closed();
            let answer = catch_panic(what, &sender, || work(session, &stop)).map_err(internal_error);
            // The receiver may be gone by now; then nobody wants the answer.
            let _ = send.send(answer);
        };
        self.send(StateMessage::SessionRequest(Box::new(reply)));
        receive.await.unwrap_or_else(|_| Err(Error::request_cancelled()))
    }

    /// `fencepost/linkedRanges`.
    pub(crate) async fn linked_ranges(&self, params: LinkedRangesParams) -> Result<Option<LinkedRanges>> {
        let LinkedRangesParams { text_document, position } = params;
        let work = move |it: &Snapshot, session: &SessionSnapshot, files: &SessionFiles<'_>| {
            linked_ranges::linked_ranges(it, session, files, position)
        };
        Ok(self.ask_across("linked ranges", text_document.uri, work).await?.flatten())
    }

    /// `fencepost/ir`.
    pub(crate) async fn elaborated_ir(&self, params: ElaboratedIrParams) -> Result<Option<ElaboratedIr>> {
        let uri = params.text_document.uri.clone();
        let work = move |it: &Snapshot, cancel: &Cancel<'_>| elaborated_ir::elaborated_ir(it, &params, cancel);
        Ok(self.ask_cancellable("the elaborated kernel", uri, Need::Text, work).await?.flatten())
    }

    /// `fencepost/run`.
    pub(crate) async fn finding_run(&self, params: FindingRunParams) -> Result<Option<FindingRun>> {
        let uri = params.text_document.uri.clone();
        let work = move |snapshot: &Snapshot| finding_run::run(snapshot, &params);
        Ok(self.ask("the run", uri, Need::CurrentAnalysis, work).await?.flatten())
    }

    /// `fencepost/timeline`.
    pub(crate) async fn timeline(&self, params: TimelineParams) -> Result<Option<TimelineText>> {
        let uri = params.uri.clone();
        let work = move |it: &Snapshot| timeline::timeline(it, &params);
        Ok(self.ask("the timeline", uri, Need::CurrentAnalysis, work).await?.flatten())
    }

    /// `fencepost/report`: the document that `fencepost report --format json` prints.
    pub(crate) async fn report(&self, params: ReportParams) -> Result<Option<Value>> {
        let uri = params.uri.clone();
        self.wait_for_analysis(&uri).await;
        let work = move |it: &Snapshot, cancel: &Cancel<'_>| report::document(it, &params, cancel);
        self.ask_cancellable("the report", uri, Need::Text, work).await
    }

    /// `fencepost/reportText`: the same for people. From now on `fencepost/reportChanged` says when
    /// to ask again.
    pub(crate) async fn report_text(&self, params: ReportParams) -> Result<Option<ReportText>> {
        self.send(StateMessage::SubscribeReport { uri: params.uri.clone(), page: None });
        self.newest_report(params, report::text).await
    }

    /// `fencepost/reportHtml`: the same as a part of a page, with the run of each kernel drawn.
    pub(crate) async fn report_html(&self, params: ReportParams) -> Result<Option<ReportHtml>> {
        self.send(StateMessage::SubscribeReport { uri: params.uri.clone(), page: None });
        self.newest_report(params, report::page).await
    }

    /// `workspace/textDocumentContent`: a report as a document of the client.
    pub(crate) async fn report_page(&self, page: ContentDocument) -> Result<ContentDocument> {
        let text = |text: String| Ok(ContentDocument { uri: None, text: Some(text) });
        let name = page.uri.unwrap_or_default();
        let Some(asked) = report_page::parse(&name) else { return text(format!("There is no page {name}.\n")) };
        for params in asked {
            self.send(StateMessage::SubscribeReport { uri: params.uri.clone(), page: Some(name.clone()) });
            if let Some(report) = self.newest_report(params, report::text).await? {
                return text(report.text);
            }
        }
        text("The file is not open; open it to see its barrier report.\n".to_owned())
    }

    /// A report of the newest text, however often it changes meanwhile.
    async fn newest_report<R: Send + 'static>(
        &self,
        params: ReportParams,
        make: fn(&Snapshot, &ReportParams, &Cancel<'_>) -> std::result::Result<R, Cancelled>,
    ) -> Result<Option<R>> {
        self.wait_for_analysis(&params.uri).await;
        loop {
            let (uri, asked) = (params.uri.clone(), params.clone());
            let work = move |it: &Snapshot, cancel: &Cancel<'_>| make(it, &asked, cancel);
            match self.ask_cancellable("the report", uri, Need::Text, work).await {
                Err(error) if error.code == ErrorCode::ContentModified => {}
                answer => return answer,
            }
        }
    }

    /// Waits for the analysis, which remembers what a report needs, but not long.
    async fn wait_for_analysis(&self, uri: &Uri) {
        let analysed = self.ask("the analysis", uri.clone(), Need::NewestAnalysis, |_| ());
        let _ = timeout(REPORT_TIMEOUT, analysed).await;
    }

    /// `fencepost/explain`.
    pub(crate) async fn explain(&self, params: ExplainParams) -> Result<Option<String>> {
        inject("the page of a kind");
        Ok(explain::explain(&params))
    }
}

/// Reads the parameters of a method beyond the protocol.
fn from_value<T: DeserializeOwned>(params: Value) -> Result<T> {
    serde_json::from_value(params).map_err(|error| Error::invalid_params(error.to_string()))
}

/// Writes the answer to one.
fn to_value(answer: impl Serialize) -> Result<Value> {
    serde_json::to_value(answer).map_err(|error| internal_error(error.to_string()))
}

/// What the user asked for cannot be done, and why.
fn refused(text: String) -> Error {
    Error { code: ErrorCode::ServerError(REQUEST_FAILED), message: text.into(), data: None }
}

fn internal_error(text: String) -> Error {
    Error { code: ErrorCode::InternalError, message: text.into(), data: None }
}

impl LanguageService for Service {
    fn initialize(&self, params: InitializeParams) -> Result<InitializeResult> {
        let client = self.client.get_or_init(|| Arc::new(initialize::client_config(&params)));
        tracing::info!(?client, "client {:?}", params.client_info);
        let (folders, settings) = (initialize::folders(&params), initialize::settings(&params));
        self.send(StateMessage::Initialize { client: client.clone(), folders, settings });
        Ok(initialize::result(client))
    }

    fn shutdown(&self) {
        self.send(StateMessage::Shutdown);
    }

    fn initialized(&self, _: InitializedParams) {
        self.send(StateMessage::Initialized);
    }

    fn did_change_configuration(&self, params: DidChangeConfigurationParams) {
        self.send(StateMessage::SettingsAnnounced(params.settings));
    }

    fn did_open(&self, params: DidOpenTextDocumentParams) {
        self.send(text_sync::did_open(params));
    }

    fn did_change(&self, params: DidChangeTextDocumentParams) {
        self.send(text_sync::did_change(params));
    }

    fn did_save(&self, params: DidSaveTextDocumentParams) {
        if let Some(message) = text_sync::did_save(params) {
            self.send(message);
        }
    }

    fn did_change_watched_files(&self, params: DidChangeWatchedFilesParams) {
        self.send(text_sync::did_change_watched_files(params));
    }

    fn did_change_workspace_folders(&self, params: DidChangeWorkspaceFoldersParams) {
        self.send(text_sync::did_change_workspace_folders(params));
    }

    fn did_close(&self, params: DidCloseTextDocumentParams) {
        self.send(text_sync::did_close(params));
    }

    fn diagnostic(&self, params: DocumentDiagnosticParams) -> Answer<'_, DocumentDiagnosticReportResult> {
        Box::pin(async move {
            let previous = params.previous_result_id;
            let work = move |snapshot: &Snapshot| diagnostic::report(snapshot, previous.as_deref());
            let answer = self.ask("diagnostics", params.text_document.uri, Need::Diagnostics, work).await?;
            Ok(answer.unwrap_or_else(|| diagnostic::full(None, Vec::new())).into())
        })
    }

    fn workspace_diagnostic(&self, params: WorkspaceDiagnosticParams) -> Answer<'_, WorkspaceDiagnosticReportResult> {
        let context = self.files.clone();
        Box::pin(async move {
            workspace_diagnostics::report(context, params).await.map(WorkspaceDiagnosticReportResult::Report)
        })
    }

    fn hover(&self, params: HoverParams) -> Answer<'_, Option<Hover>> {
        Box::pin(async move {
            let TextDocumentPositionParams { text_document, position } = params.text_document_position_params;
            let work = move |it: &Snapshot| hover::hover(it, position);
            Ok(self.ask("hover", text_document.uri, Need::Text, work).await?.flatten())
        })
    }

    fn goto_definition(&self, params: GotoDefinitionParams) -> Answer<'_, Option<GotoDefinitionResponse>> {
        Box::pin(async move {
            let TextDocumentPositionParams { text_document, position } = params.text_document_position_params;
            let work = move |it: &Snapshot, _: &SessionSnapshot, files: &SessionFiles<'_>| {
                definition::definition(it, files, position)
            };
            Ok(self.ask_across("definition", text_document.uri, work).await?.flatten())
        })
    }

    fn goto_type_definition(
        &self,
        params: request::GotoTypeDefinitionParams,
    ) -> Answer<'_, Option<request::GotoTypeDefinitionResponse>> {
        Box::pin(async move {
            let TextDocumentPositionParams { text_document, position } = params.text_document_position_params;
            let work = move |it: &Snapshot, _: &SessionSnapshot, files: &SessionFiles<'_>| {
                type_definition::type_definition(it, files, position)
            };
            Ok(self.ask_across("type definition", text_document.uri, work).await?.flatten())
        })
    }

    fn goto_implementation(
        &self,
        params: request::GotoImplementationParams,
    ) -> Answer<'_, Option<request::GotoImplementationResponse>> {
        Box::pin(async move {
            let TextDocumentPositionParams { text_document, position } = params.text_document_position_params;
            let work = move |it: &Snapshot, session: &SessionSnapshot, files: &SessionFiles<'_>| {
                implementation::implementation(it, session, files, position)
            };
            Ok(self.ask_across("implementation", text_document.uri, work).await?.flatten())
        })
    }

    fn prepare_rename(&self, params: TextDocumentPositionParams) -> Answer<'_, Option<PrepareRenameResponse>> {
        Box::pin(async move {
            let TextDocumentPositionParams { text_document, position } = params;
            let work = move |session: &SessionSnapshot, stop: &(dyn Fn() -> bool + Sync)| {
                let document = session.document(&text_document.uri)?;
                let stop = || stop() || document.cache.is_outdated();
                let cancel = Cancel::when(&stop);
                Some(rename::prepare(document, &session.files_now(&cancel), position))
            };
            self.ask_session("what is renamed", work).await?.transpose().map_err(refused)
        })
    }

    fn rename(&self, params: RenameParams) -> Answer<'_, Option<WorkspaceEdit>> {
        Box::pin(async move {
            let TextDocumentPositionParams { text_document, position } = params.text_document_position;
            let name = params.new_name;
            let work = move |session: &SessionSnapshot, stop: &(dyn Fn() -> bool + Sync)| {
                let document = session.document(&text_document.uri)?;
                let stop = || stop() || document.cache.is_outdated();
                let cancel = Cancel::when(&stop);
                Some(rename::rename(document, &session.files_now(&cancel), position, &name))
            };
            self.ask_session("the rename", work).await?.transpose().map_err(refused)
        })
    }

    fn prepare_call_hierarchy(&self, params: CallHierarchyPrepareParams) -> Answer<'_, Option<Vec<CallHierarchyItem>>> {
        Box::pin(async move {
            let TextDocumentPositionParams { text_document, position } = params.text_document_position_params;
            let work = move |it: &Snapshot, _: &SessionSnapshot, files: &SessionFiles<'_>| {
                call_hierarchy::prepare(it, files, position)
            };
            Ok(self.ask_across("the call hierarchy", text_document.uri, work).await?.flatten())
        })
    }

    fn incoming_calls(
        &self,
        params: CallHierarchyIncomingCallsParams,
    ) -> Answer<'_, Option<Vec<CallHierarchyIncomingCall>>> {
        Box::pin(async move {
            let item = params.item;
            let root = call_hierarchy::root(&item);
            let work = move |it: &Snapshot, session: &SessionSnapshot, files: &SessionFiles<'_>| {
                call_hierarchy::incoming(it, session, files, &item)
            };
            self.ask_across("incoming calls", root, work).await
        })
    }

    fn outgoing_calls(
        &self,
        params: CallHierarchyOutgoingCallsParams,
    ) -> Answer<'_, Option<Vec<CallHierarchyOutgoingCall>>> {
        Box::pin(async move {
            let item = params.item;
            let root = call_hierarchy::root(&item);
            let work = move |it: &Snapshot, session: &SessionSnapshot, files: &SessionFiles<'_>| {
                call_hierarchy::outgoing(it, session, files, &item)
            };
            self.ask_across("outgoing calls", root, work).await
        })
    }

    fn symbol(&self, params: WorkspaceSymbolParams) -> Answer<'_, Option<WorkspaceSymbolResponse>> {
        Box::pin(async move {
            let work = move |session: &SessionSnapshot, stop: &(dyn Fn() -> bool + Sync)| {
                let cancel = Cancel::when(&stop);
                workspace_symbol::symbols(session, &session.files(&cancel), &params.query)
            };
            self.ask_session("workspace symbols", work).await.map(Some)
        })
    }

    fn document_link(&self, params: DocumentLinkParams) -> Answer<'_, Option<Vec<DocumentLink>>> {
        Box::pin(async move {
            let work =
                move |it: &Snapshot, _: &SessionSnapshot, files: &SessionFiles<'_>| document_link::links(it, files);
            self.ask_across("links", params.text_document.uri, work).await
        })
    }

    fn references(&self, params: ReferenceParams) -> Answer<'_, Option<Vec<Location>>> {
        Box::pin(async move {
            let TextDocumentPositionParams { text_document, position } = params.text_document_position;
            let declaration = params.context.include_declaration;
            let work = move |it: &Snapshot, _: &SessionSnapshot, files: &SessionFiles<'_>| {
                references::references(it, files, position, declaration)
            };
            self.ask_across("references", text_document.uri, work).await
        })
    }

    fn document_highlight(&self, params: DocumentHighlightParams) -> Answer<'_, Option<Vec<DocumentHighlight>>> {
        Box::pin(async move {
            let TextDocumentPositionParams { text_document, position } = params.text_document_position_params;
            let work = move |session: &SessionSnapshot, stop: &(dyn Fn() -> bool + Sync)| {
                let document = session.document(&text_document.uri)?;
                let stop = || stop() || document.cache.is_outdated();
                let cancel = Cancel::when(&stop);
                Some(references::highlights(document, &session.files_now(&cancel), position))
            };
            self.ask_session("highlights", work).await
        })
    }

    fn document_symbol(&self, params: DocumentSymbolParams) -> Answer<'_, Option<DocumentSymbolResponse>> {
        Box::pin(
            async move { self.ask("symbols", params.text_document.uri, Need::Text, document_symbol::symbols).await },
        )
    }

    fn folding_range(&self, params: FoldingRangeParams) -> Answer<'_, Option<Vec<FoldingRange>>> {
        Box::pin(async move {
            Ok(self.ask("folds", params.text_document.uri, Need::Text, folding_range::folds).await?.flatten())
        })
    }

    fn completion(&self, params: CompletionParams) -> Answer<'_, Option<CompletionResponse>> {
        Box::pin(async move {
            let TextDocumentPositionParams { text_document, position } = params.text_document_position;
            let work = move |it: &Snapshot| completion::completion(it, position, params.context.as_ref());
            Ok(self.ask("completion", text_document.uri, Need::Text, work).await?.flatten())
        })
    }

    fn completion_resolve(&self, params: CompletionItem) -> Answer<'_, CompletionItem> {
        Box::pin(async move {
            let markdown = self.client.get().is_some_and(|client| client.markdown);
            Ok(completion::resolve(params, markdown))
        })
    }

    fn signature_help(&self, params: SignatureHelpParams) -> Answer<'_, Option<SignatureHelp>> {
        Box::pin(async move {
            let TextDocumentPositionParams { text_document, position } = params.text_document_position_params;
            let work = move |it: &Snapshot| signature_help::signature_help(it, position, params.context.as_ref());
            Ok(self.ask("signature help", text_document.uri, Need::Text, work).await?.flatten())
        })
    }

    fn semantic_tokens_full(&self, params: SemanticTokensParams) -> Answer<'_, Option<SemanticTokensResult>> {
        Box::pin(async move {
            let uri = params.text_document.uri;
            Ok(self.ask("semantic tokens", uri, Need::Text, semantic_tokens::full).await?.flatten())
        })
    }

    fn semantic_tokens_full_delta(
        &self,
        params: SemanticTokensDeltaParams,
    ) -> Answer<'_, Option<SemanticTokensFullDeltaResult>> {
        Box::pin(async move {
            let previous = params.previous_result_id;
            let work = move |it: &Snapshot| semantic_tokens::delta(it, &previous);
            Ok(self.ask("semantic tokens", params.text_document.uri, Need::Text, work).await?.flatten())
        })
    }

    fn semantic_tokens_range(
        &self,
        params: SemanticTokensRangeParams,
    ) -> Answer<'_, Option<SemanticTokensRangeResult>> {
        Box::pin(async move {
            let work = move |it: &Snapshot| semantic_tokens::range(it, params.range);
            Ok(self.ask("semantic tokens", params.text_document.uri, Need::Text, work).await?.flatten())
        })
    }

    fn selection_range(&self, params: SelectionRangeParams) -> Answer<'_, Option<Vec<SelectionRange>>> {
        Box::pin(async move {
            let work = move |it: &Snapshot| selection_range::selections(it, &params.positions);
            Ok(self.ask("selections", params.text_document.uri, Need::Text, work).await?.flatten())
        })
    }

    fn inlay_hint(&self, params: InlayHintParams) -> Answer<'_, Option<Vec<InlayHint>>> {
        Box::pin(async move {
            let work = move |it: &Snapshot| inlay_hint::hints(it, params.range);
            self.ask("inlay hints", params.text_document.uri, Need::Text, work).await
        })
    }

    fn code_lens(&self, params: CodeLensParams) -> Answer<'_, Option<Vec<CodeLens>>> {
        Box::pin(async move { self.ask("code lenses", params.text_document.uri, Need::Text, code_lens::lenses).await })
    }

    fn execute_command(&self, params: ExecuteCommandParams) -> Answer<'_, Option<Value>> {
        Box::pin(async move {
            inject("a command");
            if params.command == SHOW_VERDICT {
                let lens: KernelLens = from_value(params.arguments.into_iter().next().unwrap_or_default())?;
                let uri = lens.uri.clone();
                let work = move |it: &Snapshot| code_lens::verdict_in_full(it, &lens);
                if let Some(verdict) = self.ask("the verdict", uri, Need::Text, work).await?.flatten() {
                    self.sender.show(format!("fencepost: {verdict}"));
                }
                return Ok(None);
            }
            if params.command == SHOW_PYTHON {
                let work =
                    |session: &SessionSnapshot, _: &(dyn Fn() -> bool + Sync)| session.client.runs.missing_triton();
                if let Some(why) = self.ask_session("the Python", work).await? {
                    self.sender.show(format!("fencepost: {why}"));
                }
                return Ok(None);
            }
            let request = execute_command::run_request(params)?;
            if !request.wait {
                self.send(StateMessage::StartRun(request, None));
                return Ok(None);
            }
            let (waiter, answer) = RunWaiter::new();
            self.send(StateMessage::StartRun(request, Some(waiter)));
            // Where nobody wants the answer any more, this is dropped, and the run ends.
            to_value(answer.await).map(Some)
        })
    }

    fn code_action(&self, params: CodeActionParams) -> Answer<'_, Option<CodeActionResponse>> {
        Box::pin(async move {
            let uri = params.text_document.uri.clone();
            let work = move |it: &Snapshot, cancel: &Cancel<'_>| code_action::code_actions(it, &params, cancel);
            self.ask_cancellable("code actions", uri, Need::CurrentAnalysis, work).await
        })
    }

    fn code_action_resolve(&self, params: CodeAction) -> Answer<'_, CodeAction> {
        Box::pin(async move {
            let Some(deferred) = deferred::of(&params) else { return Ok(params) };
            let uri = deferred.uri.clone();
            let work = move |it: &Snapshot, cancel: &Cancel<'_>| deferred::edit(it, &deferred, cancel);
            let edit = self.ask_cancellable("the edit of an action", uri, Need::CurrentAnalysis, work).await?;
            match edit.flatten() {
                Some(edit) => Ok(CodeAction { edit: Some(edit), ..params }),
                None => Err(Error::content_modified()),
            }
        })
    }

    fn cancel_progress(&self, token: &ProgressToken) {
        if let Some(job) = Job::from_token(token) {
            self.send(StateMessage::Cancel(job));
        }
    }

    fn unreadable(&self, what: Lost, why: &str) {
        self.send(StateMessage::Lost { what, why: why.to_owned() });
    }

    fn extension(&self, method: &'static str, params: Value) -> Answer<'_, Value> {
        Box::pin(async move {
            match method {
                FINDING_RUN => to_value(self.finding_run(from_value(params)?).await?),
                EXPLAIN => to_value(self.explain(from_value(params)?).await?),
                TIMELINE => to_value(self.timeline(from_value(params)?).await?),
                REPORT => to_value(self.report(from_value(params)?).await?),
                ELABORATED_IR => to_value(self.elaborated_ir(from_value(params)?).await?),
                LINKED_RANGES => to_value(self.linked_ranges(from_value(params)?).await?),
                REPORT_TEXT => to_value(self.report_text(from_value(params)?).await?),
                REPORT_HTML => to_value(self.report_html(from_value(params)?).await?),
                CONTENT_METHOD => to_value(self.report_page(from_value(params)?).await?),
                _ => Err(Error::method_not_found()),
            }
        })
    }
}
