//! Routes what tower-lsp has read to the service object.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;
use tower_lsp::LanguageServer;
use tower_lsp::jsonrpc::Result;
use tower_lsp::ls_types::*;

use crate::service::{LanguageService, served};

/// Calls a [`LanguageService`]: the one type that tower-lsp is instantiated with.
pub struct Router {
    service: Arc<dyn LanguageService>,
    orderly: Arc<AtomicBool>,
}

impl Router {
    /// Routes to `service`; `orderly` is set once the client has asked to shut down.
    pub(crate) fn new(service: Arc<dyn LanguageService>, orderly: Arc<AtomicBool>) -> Router {
        Router { service, orderly }
    }

    /// The service.
    pub(crate) fn service(&self) -> Arc<dyn LanguageService> {
        self.service.clone()
    }

    /// `window/workDoneProgress/cancel`, which tower-lsp does not know.
    pub(crate) async fn cancel_progress(&self, params: WorkDoneProgressCancelParams) {
        self.service.cancel_progress(&params.token);
    }

    /// A method beyond the protocol.
    pub(crate) fn extension(
        &self,
        method: &'static str,
        params: Value,
    ) -> impl Future<Output = Result<Value>> + Send + use<> {
        let service = self.service.clone();
        async move { service.extension(method, params).await }
    }
}

macro_rules! language_server {
    (
        requests { $($request:ident($params:ty) -> $result:ty;)* }
        notifications { $($notification:ident($taken:ty);)* }
    ) => {
        impl LanguageServer for Router {
            async fn initialize(&self, params: InitializeParams) -> Result<InitializeResult> {
                self.service.initialize(params)
            }

            async fn shutdown(&self) -> Result<()> {
                self.orderly.store(true, Ordering::SeqCst);
                self.service.shutdown();
                Ok(())
            }

            $(async fn $request(&self, params: $params) -> Result<$result> {
                self.service.$request(params).await
            })*

            $(async fn $notification(&self, params: $taken) {
                self.service.$notification(params);
            })*
        }
    };
}

served!(language_server);
