//! Listening, limits, and the way of a request through the checks; ends when it is asked to.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::header::{AUTHORIZATION, HeaderMap};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::access::{self, Refused};
use crate::asked::{Asked, Fields, LONGEST_URI, parts_of};
use crate::desk::Desk;
use crate::page::unlock;
use crate::patient::Patient;
use crate::reply::{Body, Reply};
use crate::route::{Route, answer};
use crate::{Error, Options, live};

/// Connections at one time; more wait to be accepted.
const MOST_CONNECTIONS: usize = 64;

/// Threads that read the store and render pages.
const N_THREADS: usize = 8;

/// How long the head of a request may take, and how long a connection may stay without one.
const HEAD_WITHIN: Duration = Duration::from_secs(15);

/// The most bytes of a request's head.
const LONGEST_HEAD: usize = 32 << 10;

/// How long answers under way are waited for when the server stops.
const STOP_WITHIN: Duration = Duration::from_secs(3);

/// How long a wrong token waits for its answer.
const WRONG_TOKEN: Duration = Duration::from_millis(500);

/// How often it is looked whether the server is to stop.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Serves until `options.stop` is set. `ready` is told the address once browsers can connect.
///
/// # Errors
/// When nothing can be served: see [`Error`].
pub fn serve(options: Options, ready: &mut dyn FnMut(SocketAddr)) -> Result<(), Error> {
    let listen = options.listen;
    if !listen.ip().is_loopback() && options.token.is_none() {
        return Err(Error::NeedsToken { listen });
    }
    let failed = |source: std::io::Error| match source.kind() {
        std::io::ErrorKind::AddrInUse => Error::PortTaken { listen },
        _ => Error::Listen { listen, source },
    };
    let listener = std::net::TcpListener::bind(listen).map_err(failed)?;
    listener.set_nonblocking(true).map_err(failed)?;
    let at = listener.local_addr().map_err(failed)?;
    let start = |source| Error::Start { source };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .max_blocking_threads(N_THREADS)
        .build()
        .map_err(start)?;
    let desk = Arc::new(Desk::new(options));
    let listener = {
        let _entered = runtime.enter();
        TcpListener::from_std(listener).map_err(start)?
    };
    ready(at);
    runtime.block_on(accept(&listener, &desk));
    // A page that is being rendered is not waited for.
    runtime.shutdown_background();
    Ok(())
}

async fn accept(listener: &TcpListener, desk: &Arc<Desk>) {
    let (stop, stopped) = watch::channel(false);
    let slots = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    let mut connections = JoinSet::new();
    let wants_stop = async {
        while !desk.options.stop.load(Ordering::Relaxed) {
            sleep(LOOK_EVERY).await;
        }
    };
    tokio::pin!(wants_stop);
    loop {
        let next = async {
            let slot = Arc::clone(&slots).acquire_owned().await;
            (listener.accept().await, slot)
        };
        tokio::select! {
            () = &mut wants_stop => break,
            (accepted, slot) = next => match accepted {
                Ok((stream, _)) => {
                    let serve = connection(stream, Arc::clone(desk), stopped.clone());
                    connections.spawn(async move { serve.await; drop(slot) });
                }
                // Out of files, or a peer that is gone already: a loop without a pause would burn a CPU.
                Err(_) => sleep(LOOK_EVERY).await,
            },
        }
        while connections.try_join_next().is_some() {}
    }
    let _ = stop.send(true);
    let _ = timeout(STOP_WITHIN, async { while connections.join_next().await.is_some() {} }).await;
}

async fn connection(
    stream: tokio::net::TcpStream,
    desk: Arc<Desk>,
    mut stopped: watch::Receiver<bool>,
) {
    let _ = stream.set_nodelay(true);
    let stop = stopped.clone();
    let service = service_fn(move |request| handle(Arc::clone(&desk), request, stop.clone()));
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEAD_WITHIN).max_buf_size(LONGEST_HEAD);
    let connection = builder.serve_connection(TokioIo::new(Patient::new(stream)), service);
    tokio::pin!(connection);
    tokio::select! {
        // Whatever a peer does wrong is its own concern.
        _ = connection.as_mut() => return,
        _ = stopped.wait_for(|stopped| *stopped) => {}
    }
    connection.as_mut().graceful_shutdown();
    let _ = connection.await;
}

async fn handle(
    desk: Arc<Desk>,
    request: Request<Incoming>,
    stopped: watch::Receiver<bool>,
) -> Result<Response<Body>, Infallible> {
    Ok(respond(desk, request, stopped).await.unwrap_or_else(Reply::into_response))
}

/// The answer; what refuses a request is an answer, too.
async fn respond(
    desk: Arc<Desk>,
    request: Request<Incoming>,
    stopped: watch::Receiver<bool>,
) -> Result<Response<Body>, Reply> {
    let refused = |Refused { status, sentence }| Reply::problem(status, sentence);
    let problem = |status, sentence| Err(Reply::problem(status, sentence));
    let headers = request.headers();
    access::check_host(headers, &desk.options.names).map_err(refused)?;
    access::check_site(headers).map_err(refused)?;
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return problem(StatusCode::METHOD_NOT_ALLOWED, "This server only shows.");
    }
    if request.uri().to_string().len() > LONGEST_URI {
        return problem(StatusCode::URI_TOO_LONG, "The address is too long.");
    }
    let path = parts_of(request.uri().path());
    let route = path.as_deref().and_then(Route::of);
    if !route.is_some_and(Route::is_open) {
        check_token(&desk, headers).await?;
    }
    let (Some(path), Some(route)) = (path.clone(), route) else { return Err(Reply::unknown()) };
    if let Route::Events(id) = route {
        return live::stream(&desk, id, stopped).await;
    }
    let query = Fields::parse(request.uri().query().unwrap_or_default().as_bytes());
    let asked = Asked { path, query };
    // The work's own: a browser that goes away leaves it to its end.
    let turn = match route.is_heavy() {
        true => Arc::clone(&desk.heavy).acquire_owned().await.ok(),
        false => None,
    };
    let worker = Arc::clone(&desk);
    let work = move || {
        let _turn = turn;
        Route::of(&asked.path).map_or_else(Reply::unknown, |route| answer(&worker, &asked, route))
    };
    match tokio::task::spawn_blocking(work).await {
        Ok(reply) => Ok(reply.into_response()),
        Err(_) => problem(StatusCode::INTERNAL_SERVER_ERROR, "The page could not be made."),
    }
}

/// Lets who shows the token go on, and all others see how it is shown. Every path has the same answer then.
async fn check_token(desk: &Desk, headers: &HeaderMap) -> Result<(), Reply> {
    let Some(token) = &desk.options.token else { return Ok(()) };
    let Some(shown) = headers.get(AUTHORIZATION) else { return Err(unlock::page()) };
    let shown = shown.to_str().ok().and_then(|shown| shown.strip_prefix("Bearer "));
    if shown.is_some_and(|shown| token.is(shown)) {
        return Ok(());
    }
    // Guessing takes time.
    sleep(WRONG_TOKEN).await;
    Err(unlock::page())
}
