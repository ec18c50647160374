//! Documents whose text the server gives: `workspace/textDocumentContent` of LSP 3.18.
//!
//! The protocol's types here are those of 3.17. So a layer around the service reads the capability off
//! `initialize` and writes ours into its answer; the rest are requests and notifications like others.

use std::collections::BTreeSet;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::limits::client::CONTENT_REFRESH as REFRESH_TIMEOUT;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tower_lsp::Client;
use tower_lsp::jsonrpc::{Request, Response};
use tower_lsp::ls_types::Uri;
use tower_lsp::ls_types::notification::Notification;
use tower_lsp::ls_types::request::Request as Method;
use tower_service::Service;

/// The request for a document's text.
pub const METHOD: &str = "workspace/textDocumentContent";

/// The scheme of reports: `fencepost-report:/kernel.ttgir.txt?uri=…`.
pub const SCHEME: &str = "fencepost-report";

/// Parameters of the request, and its answer.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct ContentDocument {
    /// The document's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uri: Option<String>,
    /// Its text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// `workspace/textDocumentContent/refresh`.
enum Refresh {}

impl Method for Refresh {
    type Params = ContentDocument;
    type Result = ();
    const METHOD: &'static str = "workspace/textDocumentContent/refresh";
}

/// `fencepost/reportChanged`, for clients that ask for the text themselves.
enum Changed {}

impl Notification for Changed {
    type Params = ChangedParams;
    const METHOD: &'static str = "fencepost/reportChanged";
}

#[derive(Clone, Debug, Deserialize, Serialize)]
struct ChangedParams {
    uri: Uri,
}

/// Who shows a report of a document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReportSubscribers {
    /// Names of documents that the client asks the server for.
    pages: BTreeSet<String>,
    /// Whether the client has asked for the text itself.
    client: bool,
}

impl ReportSubscribers {
    /// Adds a document that the client asks the server for, or the client itself.
    pub fn add(&mut self, page: Option<String>) {
        self.client |= page.is_none();
        self.pages.extend(page);
    }

    /// Whether nobody shows one.
    pub fn is_empty(&self) -> bool {
        self.pages.is_empty() && !self.client
    }
}

/// Tells the client that the reports of a document have changed. It waits for no answer.
pub(crate) async fn notify_changed(client: &Client, uri: Uri, subscribers: ReportSubscribers) {
    if subscribers.client {
        client.send_notification::<Changed>(ChangedParams { uri }).await;
    }
    for page in subscribers.pages {
        let client = client.clone();
        tokio::spawn(async move {
            let page = ContentDocument { uri: Some(page), text: None };
            let _ = tokio::time::timeout(REFRESH_TIMEOUT, client.send_request::<Refresh>(page)).await;
        });
    }
}

/// The service with one capability more.
pub(crate) struct ContentLayer<S> {
    inner: S,
}

impl<S> ContentLayer<S> {
    /// Wraps `inner`.
    pub(crate) fn new(inner: S) -> ContentLayer<S> {
        ContentLayer { inner }
    }
}

impl<S> Service<Request> for ContentLayer<S>
where
    S: Service<Request, Response = Option<Response>>,
    S::Future: Send + 'static,
{
    type Response = Option<Response>;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Option<Response>, S::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let known = request.method() == "initialize"
            && request.params().is_some_and(|it| {
                it.pointer("/capabilities/workspace/textDocumentContent").is_some_and(|it| it.is_object())
            });
        let answer = self.inner.call(request);
        Box::pin(async move {
            let answer = answer.await?;
            Ok(if known { answer.map(announce) } else { answer })
        })
    }
}

/// Adds the capability to an answer.
fn announce(answer: Response) -> Response {
    let (id, mut body) = answer.into_parts();
    if let Ok(result) = &mut body {
        result["capabilities"]["workspace"]["textDocumentContent"] = json!({ "schemes": [SCHEME] });
    }
    Response::from_parts(id, body)
}
