//! A run in words: what was played, and what came of it.

use super::columns::{drain_tone, has_trigger, trigger_to_end};
use super::numbers::{count, span};
use super::rows::Rows;
use super::text::{Piece, Tone};
use crate::metrics::{Estimate, Metric, PolicySummary};
use crate::results::{Partial, Results};
use crate::scenario::{Demand, Mode, Scenario};

/// The scenario's name and title.
pub(super) fn title(scenario: &Scenario) -> String {
    format!("{}: {}", scenario.name, scenario.title)
}

/// What the first line of a report on an interrupted run says.
pub(super) fn partial(results: &Results) -> Option<String> {
    let Partial { done, planned } = results.partial?;
    Some(format!(
        "PARTIAL: interrupted after {} of {} units; the rest is not in these figures",
        count(done as f64),
        count(planned as f64)
    ))
}

/// The system and the run, as facts in two groups.
pub(super) fn facts(scenario: &Scenario) -> [Vec<String>; 2] {
    let mut system = vec![
        format!("{} clients", count(f64::from(scenario.fleet.clients))),
        match scenario.pooler.mode {
            Mode::Transaction => format!("pool {}", count(f64::from(scenario.pooler.pool_size))),
            Mode::Session => {
                format!("pool {} sessions", count(f64::from(scenario.pooler.pool_size)))
            }
        },
        format!("claim {}", demand(scenario.database.claim(0))),
    ];
    if let Some(limit) = scenario.pooler.max_client_conn {
        system.push(format!("max_client_conn {}", count(f64::from(limit))));
    }
    if let Some(background) = &scenario.background {
        let (rate, claim) = (count(background.rate), demand(&background.claims[0]));
        system.push(format!("{rate} requests/s, claim {claim}"));
    }
    if let Some(work) = &scenario.work {
        let tenants = count(f64::from(work.tenants));
        system.push(format!("items for {tenants} tenants, processed {}", demand(&work.processing)));
    }
    let run = &scenario.run;
    let plural = |n: usize, one: &str, many: &str| {
        format!("{} {}", count(n as f64), if n == 1 { one } else { many })
    };
    let mut units = vec![
        plural(run.replicates as usize, "replicate", "replicates"),
        plural(scenario.policies.len(), "policy", "policies"),
    ];
    if !scenario.variants.is_empty() {
        units.push(plural(scenario.variants.len(), "variant", "variants"));
    }
    let played = vec![
        units.join(" × "),
        format!("seed {}", run.seed),
        format!("{} simulated", span(run.duration.as_secs_f64())),
        format!("{} warm-up", span(run.warm_up.as_secs_f64())),
    ];
    [system, played]
}

/// What came of it, in a sentence or two.
pub(super) fn verdict(results: &Results) -> Vec<Piece> {
    if has_trigger(results) { recovery(results) } else { steady_state(results) }
}

fn recovery(results: &Results) -> Vec<Piece> {
    let disturbed: Vec<&PolicySummary> =
        results.policies.iter().filter(|policy| !policy.drains.is_empty()).collect();
    let with = |wanted: Tone| -> Vec<&PolicySummary> {
        disturbed.iter().filter(|policy| drain_tone(policy) == wanted).copied().collect()
    };
    let (drained, mixed, stuck) = (with(Tone::Good), with(Tone::Neutral), with(Tone::Bad));
    let policies = disturbed.len();
    let rest = stuck.first().and_then(|policy| trigger_to_end(results, policy));
    let rest = rest.map_or_else(String::new, |rest| span(rest.as_secs_f64()));
    let rows = Rows::of(&results.loaded.scenario);
    let ([one, many], under) = (rows.nouns(), rows.under());
    let mut text = Text { rows, pieces: Vec::new() };
    items(results, &mut text);
    if stuck.len() == policies {
        text.say(&match policies {
            1 => "The fleet has not drained by the end of the run,".to_owned(),
            _ => format!(
                "{} no {one} has the fleet drained by the end of the run,",
                rows.under_at_first()
            ),
        });
        text.keep(format!("{rest} after"));
        text.say("the trigger.");
        short_of_backends(results, &mut text);
        shared_by_all(results, &mut text);
        return text.pieces;
    }
    match drained.len() {
        0 => {}
        1 if policies == 1 => text.say("The fleet drains."),
        all if all == policies => {
            text.say(&format!("{} every {one} the fleet drains.", rows.under_at_first()));
        }
        some if some > MOST_NAMED => {
            text.say(&format!("It drains {under} {some} of {policies} {many}."));
        }
        some => {
            let lead = format!("It drains {under} {some} of {policies} {many}:");
            text.list(&lead, &drained, Tone::Good, |_| None);
        }
    }
    if let Some(best) = Best::of(rows, &drained, Metric::TimeToDrain) {
        text.best("Median time to drain:", "Shortest median time to drain:", &best, span);
    }
    if !mixed.is_empty() {
        text.list("In some replicates only:", &mixed, Tone::Neutral, |policy| {
            let Estimate { replicates, censored, .. } = policy.estimate(Metric::TimeToDrain);
            Some(format!("({} of {replicates})", replicates - censored))
        });
    }
    if !stuck.is_empty() {
        text.say("Not drained by the end of the run,");
        text.keep(format!("{rest} after"));
        text.list("the trigger:", &stuck, Tone::Bad, |_| None);
    }
    short_of_backends(results, &mut text);
    shared_by_all(results, &mut text);
    text.pieces
}

/// What became of the items: the ledger of every unit has shown that each is done or open.
fn items(results: &Results, text: &mut Text) {
    if results.loaded.scenario.work.is_some() {
        let all: Vec<&PolicySummary> = results.policies.iter().collect();
        text.list("No item is lost. Still open at the end:", &all, Tone::Neutral, |policy| {
            let mean = |metric| count(policy.estimate(metric).estimate.unwrap_or(0.0));
            Some(format!("({} of {})", mean(Metric::ItemsOpen), mean(Metric::Items)))
        });
    }
}

/// Names the policies under which places wait most of the time for backends that are not connected: at such
/// a lock-in nothing is good and nothing wasted, and the database is idle.
fn short_of_backends(results: &Results, text: &mut Text) {
    let run = &results.loaded.scenario.run;
    let measured = run.duration.as_secs_f64() - run.warm_up.as_secs_f64();
    let short = |policy: &&PolicySummary| {
        policy.estimate(Metric::SvShort).estimate.is_some_and(|short| short > measured / 2.0)
    };
    let short: Vec<&PolicySummary> = results.policies.iter().filter(short).collect();
    if !short.is_empty() {
        let lead = "Short of backends most of the time, waiting for logins:";
        text.list(lead, &short, Tone::Bad, |_| None);
    }
}

/// Names the policies whose clients share one count, since clients of their own cannot.
fn shared_by_all(results: &Results, text: &mut Text) {
    let candidates = &results.loaded.scenario.policies;
    let shares = |policy: &&PolicySummary| {
        candidates.iter().any(|known| known.name == policy.policy && known.guards_the_fleet())
    };
    let sharing: Vec<&PolicySummary> = results.policies.iter().filter(shares).collect();
    if !sharing.is_empty() {
        let lead = "One count for the whole fleet, which takes a proxy that all go through:";
        text.list(lead, &sharing, Tone::Neutral, |_| None);
    }
}

fn steady_state(results: &Results) -> Vec<Piece> {
    let policies: Vec<&PolicySummary> = results.policies.iter().collect();
    let rows = Rows::of(&results.loaded.scenario);
    let mut text = Text { rows, pieces: Vec::new() };
    items(results, &mut text);
    text.say("Nothing disturbs it.");
    if let Some(best) = Best::of(rows, &policies, Metric::SvActiveMean) {
        let (alone, least) = ("Active backends on average:", "Fewest active backends on average:");
        text.best(alone, least, &best, count);
    }
    if let Some(best) = Best::of(rows, &policies, Metric::WaitP99) {
        let (alone, least) = ("Longest wait but for 1 in 100:", "Shortest wait but for 1 in 100:");
        text.best(alone, least, &best, |millis| span(millis / 1e3));
    }
    let full = Some(results.loaded.scenario.most_backends());
    let filling = || policies.iter().filter(|policy| policy.occupancy.all.max() == full);
    match (filling().count(), policies.len()) {
        (0, _) => text.say("The pool is never full."),
        (_, 1) => text.say("At times the pool is full."),
        _ => {
            let filling: Vec<&PolicySummary> = filling().copied().collect();
            let lead = format!("At times the pool is full {}", rows.under());
            text.list(&lead, &filling, Tone::Neutral, |_| None);
        }
    }
    shared_by_all(results, &mut text);
    text.pieces
}

/// The least estimate of a metric, and whose it is: all policies whose interval reaches down to the
/// least one's.
struct Best {
    policies: Vec<String>,
    rivals: usize,
    value: f64,
    estimate: Estimate,
}

impl Best {
    fn of(rows: Rows, policies: &[&PolicySummary], metric: Metric) -> Option<Best> {
        let estimates: Vec<(String, f64, Estimate)> = policies
            .iter()
            .filter_map(|policy| {
                let estimate = policy.estimate(metric);
                estimate.estimate.map(|value| (rows.name(policy), value, estimate))
            })
            .collect();
        let &(_, value, estimate) = estimates.iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
        let tied = |other: &Estimate| match (other.low, estimate.high) {
            (Some(low), Some(high)) => low <= high,
            _ => other.estimate == Some(value),
        };
        let best =
            estimates.iter().filter(|(.., other)| tied(other)).map(|(name, ..)| name.clone());
        Some(Best { policies: best.collect(), rivals: policies.len(), value, estimate })
    }
}

fn demand(demand: &Demand) -> String {
    let shown = |of: crate::units::Span| span(of.as_secs_f64());
    match *demand {
        Demand::LogNormal { mean, .. } => format!("{} log-normal", shown(mean)),
        Demand::Gamma { mean, .. } => format!("{} gamma", shown(mean)),
        Demand::Weibull { .. } => format!("{} Weibull", span(demand.mean_secs())),
        Demand::Empirical(_) => format!("{} as measured", span(demand.mean_secs())),
        Demand::Constant(length) => shown(length),
        Demand::Exponential { mean } => format!("{} exponential", shown(mean)),
        Demand::Uniform(low, high) => format!("{} – {} uniform", shown(low), shown(high)),
        Demand::Normal { mean, std_dev } => {
            format!("{} normal (sd {})", shown(mean), shown(std_dev))
        }
    }
}

/// Policies that are still named one by one: beyond, the table shows which.
const MOST_NAMED: usize = 12;

/// Sentences under construction: words that may be broken between, and pieces that may not.
struct Text {
    /// What it is about.
    rows: Rows,
    pieces: Vec<Piece>,
}

impl Text {
    fn say(&mut self, words: &str) {
        self.pieces.extend(words.split_whitespace().map(Piece::new));
    }

    fn keep(&mut self, piece: impl Into<String>) {
        self.pieces.push(Piece::new(piece));
    }

    /// `lead a, b (note), c.`, or `lead (30 policies).` where they are too many to name.
    fn list(
        &mut self,
        lead: &str,
        policies: &[&PolicySummary],
        tone: Tone,
        note: impl Fn(&PolicySummary) -> Option<String>,
    ) {
        if policies.len() > MOST_NAMED {
            self.say(lead.trim_end_matches(':'));
            return self.keep(format!("({} {}).", policies.len(), self.rows.nouns()[1]));
        }
        self.say(lead);
        for (index, policy) in policies.iter().enumerate() {
            let stop = if index + 1 == policies.len() { "." } else { "," };
            let name = self.rows.name(policy);
            let name = match note(policy) {
                Some(note) => format!("{name} {note}{stop}"),
                None => format!("{name}{stop}"),
            };
            self.pieces.push(Piece::toned(name, tone));
        }
    }

    /// `alone 31 s (95 % interval 29 s – 33 s).` or, among several, `least name, 31 s.`
    fn best(&mut self, alone: &str, least: &str, best: &Best, number: fn(f64) -> String) {
        let shown = number(best.value);
        if best.rivals > 1 && best.policies.len() == best.rivals {
            self.say(alone);
            self.keep(shown);
            let ([one, _], under) = (self.rows.nouns(), self.rows.under());
            return self.say(&format!("{under} every {one}."));
        }
        self.say(if best.rivals == 1 { alone } else { least });
        if best.rivals > 1 {
            best.policies.iter().for_each(|name| self.keep(format!("{name},")));
        }
        match (&best.policies[..], best.estimate.low, best.estimate.high) {
            ([_], Some(low), Some(high)) => {
                self.keep(shown);
                self.keep("(95 % interval");
                self.keep(format!("{} – {}).", number(low), number(high)));
            }
            _ => self.keep(format!("{shown}.")),
        }
    }
}
