//! The loop that reads messages, calls the service and writes answers.
//!
//! tower-lsp routes, knows the protocol's types and cancels; the stream is ours, since its own loop ends at the first
//! message that it cannot read, leaves requests named `$/…` without an answer and dies with a handler that panics.
//! Here each request gets one answer, whatever is in it. A message is polled once where it is read, before the
//! next one is looked at, which keeps their order; what is not ready then becomes a task.

use std::panic::AssertUnwindSafe;
use std::pin::{Pin, pin};
use std::sync::Arc;

use futures_util::future::{Either, FutureExt, poll_fn, select};
use futures_util::{SinkExt, StreamExt, stream};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::timeout;
use tower_lsp::ClientSocket;
use tower_lsp::jsonrpc::{Error, Id, Request, Response};
use tower_service::Service;

use crate::frames::{Frame, FrameReader};
use crate::limits::end::GRACE;
use crate::message::Message;
use crate::notifications;
use crate::process;
use crate::service::LanguageService;

/// What is in a message to the client.
type Outgoing = Either<Response, Request>;

/// What becomes of a request.
type Called<E> = Pin<Box<dyn Future<Output = std::thread::Result<Result<Option<Response>, E>>> + Send>>;

/// Serves until `exit`, a closed input, or the end of the client's process.
pub(crate) async fn serve<I, O, S>(
    input: I,
    output: O,
    router: S,
    socket: ClientSocket,
    service: Arc<dyn LanguageService>,
) where
    I: AsyncRead + Unpin,
    O: AsyncWrite + Unpin + Send + 'static,
    S: Service<Request, Response = Option<Response>>,
    S::Error: Send + 'static,
    S::Future: Send + 'static,
{
    let (requests, mut answers) = socket.split();
    let (responses, queue) = unbounded_channel();
    let writer = tokio::spawn(write(output, queue, requests));
    let mut wire = Wire { router, service, responses };
    let mut frames = FrameReader::new(input);
    let mut client = process::Watch::nobody();
    loop {
        let frame = match select(pin!(frames.next()), pin!(client.ended())).await {
            Either::Left((Some(frame), _)) => frame,
            Either::Left((None, _)) => break,
            Either::Right(_) => {
                tracing::warn!("the client's process is gone");
                break;
            }
        };
        let message = match frame {
            Frame::Body(body) => match Message::read(&body) {
                Message::Unreadable(id, error) => {
                    frames.was_unreadable(&body);
                    wire.refuse(id, error, &body);
                    continue;
                }
                message => message,
            },
            Frame::Broken(why, bytes) => {
                wire.refuse(
                    Id::Null,
                    Error { message: format!("Parse error: {why}").into(), ..Error::parse_error() },
                    &bytes,
                );
                continue;
            }
        };
        match message {
            Message::Request(request) => {
                if request.method() == "initialize" {
                    client = process::Watch::client(request.params());
                }
                let is_exit = request.method() == "exit";
                wire.call(request).await;
                if is_exit {
                    break;
                }
            }
            // Nobody waits for it any more.
            Message::Response(response) => drop(answers.send(response).await),
            Message::Unreadable(..) => {}
        }
    }
    drop(wire);
    let _ = timeout(GRACE, writer).await;
}

/// Where messages go.
struct Wire<S> {
    router: S,
    service: Arc<dyn LanguageService>,
    responses: UnboundedSender<Response>,
}

impl<S> Wire<S>
where
    S: Service<Request, Response = Option<Response>>,
    S::Error: Send + 'static,
    S::Future: Send + 'static,
{
    /// Answers bytes that are no message. They may have been a change of a document.
    fn refuse(&self, id: Id, error: Error, bytes: &[u8]) {
        tracing::error!("a message cannot be read: {}", error.message);
        self.service.unreadable(notifications::guess(bytes), &error.message);
        let _ = self.responses.send(Response::from_error(id, error));
    }

    /// Calls the service, and sees to it that a request is answered.
    async fn call(&mut self, request: Request) {
        let request = normal(request);
        let (id, method) = (request.id().cloned(), request.method().to_owned());
        if id.is_none()
            && let Err(lost) = notifications::check(&method, request.params())
        {
            tracing::error!("{method} cannot be read: {}", lost.why);
            self.service.unreadable(lost.what, &format!("{method}: {}", lost.why));
            return;
        }
        if poll_fn(|context| self.router.poll_ready(context)).await.is_err() {
            return;
        }
        let Ok(called) = std::panic::catch_unwind(AssertUnwindSafe(|| self.router.call(request))) else {
            self.answer(id, &method, Err(Error::internal_error()));
            return;
        };
        let mut called: Called<S::Error> = Box::pin(AssertUnwindSafe(called).catch_unwind());
        if let Some(done) = poll_fn(|context| std::task::Poll::Ready(now(called.as_mut().poll(context)))).await {
            self.answer(id, &method, flat(done));
            return;
        }
        let responses = self.responses.clone();
        tokio::spawn(async move {
            let done = flat(called.await);
            answer(&responses, id, &method, done);
        });
    }

    fn answer(&self, id: Option<Id>, method: &str, done: Result<Option<Response>, Error>) {
        answer(&self.responses, id, method, done);
    }
}

fn now<T>(poll: std::task::Poll<T>) -> Option<T> {
    match poll {
        std::task::Poll::Ready(done) => Some(done),
        std::task::Poll::Pending => None,
    }
}

/// A panic as an error; after the session there are no answers.
fn flat<E>(done: std::thread::Result<Result<Option<Response>, E>>) -> Result<Option<Response>, Error> {
    match done {
        Ok(answer) => Ok(answer.unwrap_or(None)),
        Err(panic) => {
            let text = panic.downcast_ref::<&str>().copied().map(str::to_owned);
            let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
            Err(Error { message: format!("Internal error: {text}").into(), ..Error::internal_error() })
        }
    }
}

/// Answers a request, once; a notification has no answer.
fn answer(responses: &UnboundedSender<Response>, id: Option<Id>, method: &str, done: Result<Option<Response>, Error>) {
    if let Err(error) = &done {
        tracing::error!("{method} failed: {}", error.message);
    }
    let Some(id) = id else { return };
    let response = match done {
        Ok(Some(response)) => response,
        Ok(None) => Response::from_error(id, Error { data: Some(Value::from(method)), ..Error::method_not_found() }),
        Err(error) => Response::from_error(id, error),
    };
    // A closed channel means that the process is about to end.
    let _ = responses.send(response);
}

/// A request as tower-lsp takes it: some clients send parameters where there are none.
fn normal(request: Request) -> Request {
    if !matches!(request.method(), "shutdown" | "exit") {
        return request;
    }
    let (method, id, _) = request.into_parts();
    match id {
        Some(id) => Request::build(method).id(id).finish(),
        None => Request::build(method).finish(),
    }
}

/// Writes answers, and requests and notifications of ours, until there are no more of either. What the service
/// sends unasked is taken only when the last message has been written, so that what a later one replaces need not be
/// sent to a client that reads slowly.
async fn write<O: AsyncWrite + Unpin>(
    mut output: O,
    mut responses: UnboundedReceiver<Response>,
    requests: impl futures_util::Stream<Item = Request> + Unpin,
) {
    let responses = stream::poll_fn(move |context| responses.poll_recv(context)).map(Outgoing::Left);
    // Requests end with the session, responses with the reader.
    let mut messages = stream::select(responses, requests.map(Outgoing::Right));
    while let Some(message) = messages.next().await {
        let text = match &message {
            Either::Left(response) => serde_json::to_string(response),
            Either::Right(request) => serde_json::to_string(request),
        };
        // Texts, numbers and maps with texts as keys can always be written.
        let Ok(text) = text else { continue };
        let framed = format!("Content-Length: {}\r\n\r\n{text}", text.len());
        if output.write_all(framed.as_bytes()).await.is_err() || output.flush().await.is_err() {
            return;
        }
    }
}
