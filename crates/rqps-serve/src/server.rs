//! Listening, limits, and the way of a request through the checks; ends when it is asked to.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use http_body_util::{BodyExt as _, Limited};
use hyper::body::Incoming;
use hyper::header::{AUTHORIZATION, COOKIE, HeaderMap};
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
use crate::patient::Patient;
use crate::reply::{Body, Reply};
use crate::route::{LONGEST_FORM, Route, answer};
use crate::{Error, Options, live, token};

/// Connections at one time; more wait to be accepted.
const MOST_CONNECTIONS: usize = 64;

/// Threads that read the store and render pages.
const N_THREADS: usize = 8;

/// How long the head of a request may take, and how long a connection may stay without one.
const HEAD_WITHIN: Duration = Duration::from_secs(15);

/// How long what a form sends may take.
const FORM_WITHIN: Duration = Duration::from_secs(15);

/// The most bytes of a request's head.
const LONGEST_HEAD: usize = 32 << 10;

/// How long answers under way are waited for when the server stops.
const STOP_WITHIN: Duration = Duration::from_secs(3);

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
    let desk = Arc::new(Desk::new(options, at).map_err(start)?);
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
    let has_token = shows_token(&desk, headers);
    access::check_origin(request.method(), headers, has_token).map_err(refused)?;
    if request.uri().to_string().len() > LONGEST_URI {
        return problem(StatusCode::URI_TOO_LONG, "The address is too long.");
    }
    let Some(path) = parts_of(request.uri().path()) else { return Err(Reply::unknown()) };
    let Some(route) = Route::of(&path) else { return Err(Reply::unknown()) };
    if !route.takes(request.method()) {
        return problem(StatusCode::METHOD_NOT_ALLOWED, "That cannot be done with this page.");
    }
    let cookies = text_of(headers, COOKIE);
    let is_in = desk.options.token.is_none() || has_token || desk.sessions.is_in(&cookies);
    if !is_in && !route.is_open() {
        let is_page = *request.method() == Method::GET && !matches!(route, Route::Events(_));
        return Err(if is_page { Reply::see("/login") } else { needs_login() });
    }
    let asked = Asked {
        method: request.method().clone(),
        query: Fields::parse(request.uri().query().unwrap_or_default().as_bytes()),
        form_key: desk.sessions.form_key(&cookies),
        form: Fields::default(),
        path: path.clone(),
        cookies,
    };
    if let Route::Events(id) = route {
        return live::stream(&desk, id, stopped).await;
    }
    let form = read_form(request).await?;
    let asked = Asked { form, ..asked };
    if route.takes_form() && !has_token && !token::same(asked.form.get("key"), &asked.form_key) {
        return problem(StatusCode::FORBIDDEN, "The form is too old; load its page again.");
    }
    if route.writes() && !desk.options.may_write {
        return problem(
            StatusCode::FORBIDDEN,
            "This server only shows; start it with --allow-write.",
        );
    }
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
        Ok(reply) => {
            if reply.status == StatusCode::UNAUTHORIZED {
                // Guessing takes time.
                sleep(Duration::from_millis(500)).await;
            }
            Ok(reply.into_response())
        }
        Err(_) => problem(StatusCode::INTERNAL_SERVER_ERROR, "The page could not be made."),
    }
}

fn needs_login() -> Reply {
    Reply::problem(StatusCode::UNAUTHORIZED, "Show the token first: log in at /login.")
}

/// Whether a program shows the token itself.
fn shows_token(desk: &Desk, headers: &HeaderMap) -> bool {
    let shown = text_of(headers, AUTHORIZATION);
    let token = shown.strip_prefix("Bearer ");
    matches!((&desk.options.token, token), (Some(token), Some(shown)) if token.is(shown))
}

/// The values of a header as one text.
fn text_of(headers: &HeaderMap, name: hyper::header::HeaderName) -> String {
    let all = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    all.collect::<Vec<_>>().join("; ")
}

/// What a form sent; of other requests nothing.
async fn read_form(request: Request<Incoming>) -> Result<Fields, Reply> {
    if *request.method() != Method::POST {
        return Ok(Fields::default());
    }
    let body = Limited::new(request.into_body(), LONGEST_FORM).collect();
    match timeout(FORM_WITHIN, body).await {
        Ok(Ok(body)) => Ok(Fields::parse(&body.to_bytes())),
        Ok(Err(_)) => Err(Reply::problem(
            StatusCode::PAYLOAD_TOO_LARGE,
            "The form is too long, or broke off.",
        )),
        Err(_) => Err(Reply::problem(StatusCode::REQUEST_TIMEOUT, "The form took too long.")),
    }
}
