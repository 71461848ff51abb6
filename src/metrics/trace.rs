//! Every event of one unit as a row of CSV, for looking closely.

use std::io::{self, Write};

use crate::engine::observer::{Event, Gauges, Observer};
use crate::units::{SimTime, Span};

/// Writes `t_s,event,client,detail,sv_good,sv_wasted,cl_waiting`, one row an event, with the levels
/// after it. Departures are told on arrival: their own time is in the detail.
#[derive(Debug)]
pub struct Trace<W: Write> {
    rows: W,
    /// The first failure to write; nothing is written after it.
    outcome: io::Result<()>,
}

impl<W: Write> Trace<W> {
    /// Begins a trace with its header.
    pub fn new(mut rows: W) -> Trace<W> {
        let outcome = writeln!(rows, "t_s,event,client,detail,sv_good,sv_wasted,cl_waiting");
        Trace { rows, outcome }
    }

    /// Flushes, and reports the first failure to write.
    ///
    /// # Errors
    ///
    /// Whatever the writer said.
    pub fn finish(mut self) -> io::Result<()> {
        self.outcome?;
        self.rows.flush()
    }
}

impl<W: Write> Observer for Trace<W> {
    fn on(&mut self, now: SimTime, event: Event, gauges: Gauges) {
        if self.outcome.is_err() {
            return;
        }
        let waited = |span: Span| format!("waited={:.6}", span.as_secs_f64());
        let perhaps = |span: Option<Span>| span.map_or("under-way".to_owned(), waited);
        let whose = |good| if good { "good" } else { "wasted" };
        let (name, client, detail) = match event {
            Event::Departed { client, at, begins } => {
                let detail = format!("at={:.6} begins={begins:?}", at.as_secs_f64());
                ("departed", Some(client), detail.to_lowercase())
            }
            Event::Refused { client } => ("refused", Some(client), String::new()),
            Event::Throttled { client } => ("throttled", Some(client), String::new()),
            Event::Rejected { client, .. } => ("rejected", Some(client), String::new()),
            Event::RetryDenied { client } => ("retry-denied", Some(client), String::new()),
            Event::OuterTry { client, within } => {
                ("outer-try", Some(client), format!("layer={}", within + 1))
            }
            Event::Admitted { client, connects } => {
                ("admitted", Some(client), if connects { "connects" } else { "" }.to_owned())
            }
            Event::ConnectionKept { client } => ("connection-kept", Some(client), String::new()),
            Event::ConnectionsClosed { connections } => {
                ("connections-closed", None, format!("connections={connections}"))
            }
            Event::Granted { client, waited: w } => ("granted", Some(client), waited(w)),
            Event::Abandoned { client, waited: w } => ("abandoned", Some(client), waited(w)),
            Event::TimedOut { client, waited: w } => ("timed-out", Some(client), waited(w)),
            Event::Dropped { client, waited } => ("dropped", Some(client), perhaps(waited)),
            Event::Pending { client, waited } => ("pending", Some(client), perhaps(waited)),
            Event::ConnectTimedOut { client } => ("connect-timed-out", Some(client), String::new()),
            Event::PoolTimedOut { client, waited: w } => {
                ("pool-timed-out", Some(client), waited(w))
            }
            Event::PlaceExpired { waited: w } => ("place-expired", None, waited(w)),
            Event::PlaceGivenUp { waited: w } => ("place-given-up", None, waited(w)),
            Event::PlaceSkipped { waited: w } => ("place-skipped", None, waited(w)),
            Event::DeadClosed { client, waited: w } => ("dead-closed", Some(client), waited(w)),
            Event::BackendLost { client } => ("backend-lost", Some(client), String::new()),
            Event::LoginBegan => ("login-began", None, String::new()),
            Event::LoggedIn => ("logged-in", None, String::new()),
            Event::LoginFailed => ("login-failed", None, String::new()),
            Event::RequestCame { client } => ("request-came", Some(client), String::new()),
            Event::RequestTurnedAway => ("request-turned-away", None, String::new()),
            Event::RequestEnded { client, came, good } => {
                let how = if good { "served" } else { "failed" };
                let detail = format!("{how} response={:.6}", now.since(came).as_secs_f64());
                ("request-ended", Some(client), detail)
            }
            Event::ItemArrived { tenant } => ("item-arrived", None, format!("tenant={tenant}")),
            Event::ItemTaken { client, arrived, .. } => {
                ("item-taken", Some(client), waited(now.since(arrived)))
            }
            Event::ItemReturned { .. } => ("item-returned", None, String::new()),
            Event::ItemDone { client, arrived } => {
                ("item-done", Some(client), waited(now.since(arrived)))
            }
            Event::Left { client } => ("left", Some(client), String::new()),
            Event::Exited { client } => ("exited", Some(client), String::new()),
            Event::PlacesForgotten { places, .. } => {
                ("places-forgotten", None, format!("places={places}"))
            }
            Event::DeadServed { client, waited: w } => ("dead-served", Some(client), waited(w)),
            Event::Completed { client, good, service } => {
                let detail = format!("{} service={:.6}", whose(good), service.as_secs_f64());
                ("completed", Some(client), detail)
            }
            Event::Continued { client, idle } => {
                ("continued", Some(client), format!("idle={:.6}", idle.as_secs_f64()))
            }
            Event::SessionCut { client, .. } => ("session-cut", Some(client), String::new()),
            Event::ClaimDropped { client, good, .. } => {
                ("claim-dropped", Some(client), whose(good).to_owned())
            }
            Event::ClaimOrphaned { client, .. } => ("claim-orphaned", Some(client), String::new()),
            Event::PollEnded { client, began, outcome } => {
                let detail = format!("{outcome:?} response={:.6}", now.since(began).as_secs_f64());
                ("poll-ended", Some(client), detail.to_lowercase())
            }
            Event::Disturbed { index } => ("disturbed", None, format!("disturbance={index}")),
            Event::Restarted { client, index } => {
                ("restarted", Some(client), format!("disturbance={index}"))
            }
            Event::Stopped { client, index } => {
                ("stopped", Some(client), format!("disturbance={index}"))
            }
            Event::PoolResized { pool_size } => {
                ("pool-resized", None, format!("pool_size={pool_size}"))
            }
        };
        let client = client.map_or(String::new(), |client| client.to_string());
        let Gauges { good, wasted, waiting, .. } = gauges;
        self.outcome = writeln!(
            self.rows,
            "{:.6},{name},{client},{detail},{good},{wasted},{waiting}",
            now.as_secs_f64()
        );
    }
}
