//! The catalogue against the real libraries: every preset that was run, at every attempt, against what
//! the library itself drew; every replica likewise; and every row of the reference table.

use std::fmt::Write as _;

use herdsim::policy::{Hint, Retry, Sequences};
use herdsim::scenario::{Evidence, Preset, backoffs, parse_backoffs, presets};
use herdsim::units::Span;

/// What the libraries drew: 20,000 sequences each, delays in seconds.
const GOLDEN: &str = include_str!("data/backoff/golden.csv");
/// What formulas drew that were copied from a library's source.
const REPLICA: &str = include_str!("data/backoff/replica.csv");

/// Sequences that we draw.
const CLIENTS: u32 = 100_000;
/// Standard errors that a mean or a rank may be off.
const MOST: f64 = 5.0;
/// The figures of the libraries have six digits.
const DIGITS: f64 = 1e-5;

/// The start of a series' name and parameters, and a preset with the parameters that it was run with.
/// Two projects may share the code that was replicated: then the series has two presets.
const SERIES: [(&str, &str); 113] = [
    ("botocore,1.44.8,standard.ExponentialBackoff,non-throttling", "botocore-standard@1.44.8"),
    (
        "botocore,1.44.8,standard.ExponentialBackoff,throttling",
        "botocore-standard-throttling@1.44.8",
    ),
    ("botocore,1.44.8,standard.ExponentialBackoff,dynamodb", "botocore-standard-dynamodb@1.44.8"),
    ("botocore,1.44.8,legacy", "botocore-legacy@1.44.8"),
    (
        "deadline-cloud-worker-agent,8e776e1+botocore1.44.8",
        "deadline-no-overflow@8e776e1+botocore-1.44.8",
    ),
    ("tenacity,9.2.1,wait_exponential,", "tenacity-exponential@9.2.1"),
    ("tenacity,9.2.1,wait_random_exponential", "tenacity-random-exponential@9.2.1 max = '60s'"),
    ("tenacity,9.2.1,wait_exponential_jitter,defaults", "tenacity-exponential-jitter@9.2.1"),
    (
        "tenacity,9.2.1,wait_exponential_jitter,multiplier=0.5",
        "tenacity-exponential-jitter@9.2.1 initial = '500ms' max = '10s'",
    ),
    ("tenacity,9.2.1,wait_fixed+wait_random", "tenacity-fixed-random@9.2.1"),
    ("tenacity,9.2.1,wait_incrementing", "tenacity-incrementing@9.2.1"),
    ("backoff,2.2.1,on_exception(expo),defaults", "backoff-expo@2.2.1"),
    (
        "backoff,2.2.1,on_exception(expo),max_value=60 full_jitter",
        "backoff-expo@2.2.1 max_value = '60s'",
    ),
    (
        "backoff,2.2.1,on_exception(expo),max_value=60 jitter=random",
        "backoff-expo-random-jitter@2.2.1 max_value = '60s'",
    ),
    ("backoff,2.2.1,on_exception(fibo)", "backoff-fibo@2.2.1 max_value = '60s'"),
    ("backoff,2.2.1,on_exception(constant)", "backoff-constant@2.2.1"),
    ("urllib3,2.8.0,Retry,backoff_factor=1 max=120 jitter=0", "urllib3-retry@2.8.0 factor = '1s'"),
    (
        "urllib3,2.8.0,Retry,backoff_factor=1 max=120 backoff_jitter=1",
        "urllib3-retry@2.8.0 factor = '1s' jitter = '1s'",
    ),
    (
        "urllib3,2.8.0,Retry,backoff_factor=0.1",
        "urllib3-retry@2.8.0 factor = '100ms' jitter = '500ms' max = '10s'",
    ),
    ("redis-py,8.1.0,ExponentialWithJitterBackoff", "redis-py-default@8.1.0"),
    ("redis-py,8.1.0,ExponentialBackoff", "redis-py-exponential@8.1.0"),
    ("redis-py,8.1.0,FullJitterBackoff", "redis-py-full-jitter@8.1.0"),
    ("redis-py,8.1.0,DecorrelatedJitterBackoff", "redis-py-decorrelated@8.1.0"),
    ("celery,5.7.0", "celery-autoretry-no-jitter@5.7.0"),
    ("kombu,5.7.0", "kombu-retry-over-time@5.7.0"),
    ("google-api-core,2.44.0", "google-api-core-retry@2.44.0"),
    ("azure-core,1.41.0", "azure-core-py-retry@1.41.0"),
    ("anthropic,2.14.0", "anthropic-python@2.14.0"),
    ("kafka-python,3.0.12", "kafka-python@3.0.12"),
    ("websockets,15.0.1", "websockets-client@15.0.1"),
    ("dramatiq,2.2.1", "dramatiq-retries@2.2.1"),
    ("aiohttp-retry,2.9.1,ExponentialRetry", "aiohttp-retry-exponential@2.9.1"),
    ("aiohttp-retry,2.9.1,JitterRetry", "aiohttp-retry-jitter@2.9.1"),
    ("aiohttp-retry,2.9.1,RandomRetry", "aiohttp-retry-random@2.9.1"),
    ("aiohttp-retry,2.9.1,FibonacciRetry", "aiohttp-retry-fibonacci@2.9.1"),
    ("slack_sdk,3.48.0", "slack-sdk@3.48.0"),
    ("retrying,1.4.2", "retrying-exponential@1.4.2 max = '10s'"),
    ("nats-py,2.16.0", "nats-py-reconnect@2.16.0"),
    ("botocore,1.31.21", "botocore-standard@1.31.21"),
    (
        "deadline-cloud-worker-agent,8e776e1+botocore1.31.21",
        "deadline-no-overflow@8e776e1+botocore-1.31.21",
    ),
    ("botocore,1.34.162", "botocore-standard@1.34.162"),
    (
        "deadline-cloud-worker-agent,8e776e1+botocore1.34.162",
        "deadline-no-overflow@8e776e1+botocore-1.34.162",
    ),
    (
        "@smithy/core (aws-sdk js v3),3.41.1,StandardRetryStrategy,transient",
        "smithy-core-standard@3.41.1",
    ),
    (
        "@smithy/core (aws-sdk js v3),3.41.1,StandardRetryStrategy,throttling",
        "smithy-core-throttling@3.41.1",
    ),
    (
        "@smithy/util-retry (aws-sdk js v3),4.2.0,StandardRetryStrategy,transient",
        "smithy-util-retry-standard@4.2.0",
    ),
    (
        "@smithy/util-retry (aws-sdk js v3),4.2.0,StandardRetryStrategy,throttling",
        "smithy-util-retry-throttling@4.2.0",
    ),
    ("p-retry,7.1.1", "p-retry@7.1.1"),
    ("retry (node-retry),0.13.1,timeouts(),factor=2", "node-retry@0.13.1"),
    (
        "retry (node-retry),0.13.1,timeouts(),randomize=true min=1000 maxTimeout=60000",
        "node-retry-randomized@0.13.1 max = '60s' retries = 12",
    ),
    (
        "retry (node-retry),0.13.1,timeouts(),randomize=true min=1000 factor=1.2",
        "node-retry-randomized@0.13.1 factor = 1.2 retries = 12",
    ),
    ("async-retry,1.3.3", "async-retry@1.3.3 retries = 12"),
    ("axios-retry,4.5.0,exponentialDelay", "axios-retry-exponential@4.5.0"),
    ("axios-retry,4.5.0,linearDelay", "axios-retry-linear@4.5.0"),
    ("exponential-backoff (npm),3.1.3,backOff,defaults", "npm-exponential-backoff@3.1.3"),
    (
        "exponential-backoff (npm),3.1.3,backOff,jitter=full",
        "npm-exponential-backoff-full-jitter@3.1.3 max = '10s'",
    ),
    ("cockatiel,3.2.1,noJitterGenerator", "cockatiel-no-jitter@3.2.1"),
    ("cockatiel,3.2.1,fullJitterGenerator", "cockatiel-full-jitter@3.2.1"),
    ("cockatiel,3.2.1,halfJitterGenerator", "cockatiel-half-jitter@3.2.1"),
    ("bullmq,6.7.0", "bullmq-exponential@6.7.0"),
    ("ioredis,5.11.1", "ioredis-reconnect@5.11.1"),
    ("redis (node-redis),6.3.1", "node-redis-reconnect@6.3.1"),
    ("@grpc/grpc-js,1.14.7", "grpc-js-retry@1.14.7"),
    ("openai (node),6.49.0", "openai-node@6.49.0"),
    ("stripe (node),23.1.0", "stripe-node@23.1.0"),
    ("gaxios,7.3.1", "gaxios@7.3.1"),
    ("got,14.6.6", "got@14.6.6"),
    ("ky,1.14.3", "ky@1.14.3"),
    ("@tanstack/query-core,5.108.4", "tanstack-query@5.108.4"),
    ("reconnecting-websocket,4.4.0", "reconnecting-websocket@4.4.0 spread = [3, 3]"),
    ("phoenix (js),1.8.16,Socket.reconnectAfterMs", "phoenix-js-reconnect@1.8.16"),
    ("phoenix (js),1.8.16,Socket.rejoinAfterMs", "phoenix-js-rejoin@1.8.16"),
    ("@supabase/realtime-js,2.109.0", "supabase-realtime-js@2.109.0"),
    ("nats (js),2.29.3", "nats-js-reconnect@2.29.3"),
    ("backon,1.6.0,ExponentialBuilder,factor", "backon-exponential@1.6.0"),
    ("backon,1.6.0,ExponentialBuilder,with_jitter", "backon-exponential-jitter@1.6.0"),
    ("backon,1.6.0,FibonacciBuilder", "backon-fibonacci@1.6.0"),
    ("tokio-retry,0.3.2,ExponentialBackoff::from_millis(10)", "tokio-retry-from-millis@0.3.2"),
    ("tokio-retry,0.3.2,ExponentialBackoff::from_millis(2)", "tokio-retry-jitter@0.3.2"),
    ("exponential-backoff (rust),2.1.1", "exponential-backoff-rs@2.1.1"),
    (
        "retry-policies (reqwest-retry),0.5.2,ExponentialBackoff,Jitter::None",
        "retry-policies-none@0.5.2",
    ),
    (
        "retry-policies (reqwest-retry),0.5.2,ExponentialBackoff,Jitter::Full",
        "retry-policies-full@0.5.2",
    ),
    (
        "retry-policies (reqwest-retry),0.5.2,ExponentialBackoff,Jitter::Bounded",
        "retry-policies-bounded@0.5.2",
    ),
    ("kafka-clients (java),1eb7644", "kafka-clients-retry@1eb7644"),
    (
        "resilience4j,af9e7c9,IntervalFunction.ofExponentialBackoff",
        "resilience4j-exponential@af9e7c9",
    ),
    (
        "resilience4j,af9e7c9,IntervalFunction.ofExponentialRandomBackoff",
        "resilience4j-exponential-random@af9e7c9",
    ),
    ("lettuce,b0bcdd8,Delay.exponential", "lettuce-reconnect@b0bcdd8"),
    ("lettuce,b0bcdd8,Delay.fullJitter", "lettuce-full-jitter@b0bcdd8"),
    ("lettuce,b0bcdd8,Delay.equalJitter", "lettuce-equal-jitter@b0bcdd8"),
    ("psycopg_pool,3.3.3", "psycopg-pool@3.3.3"),
    ("pymongo,4.20.1", "pymongo-retry@4.20.1"),
    ("tenacity,9.2.1,wait_exponential_jitter,initial=0.1", "honcho-database@396976db"),
    ("aws-sdk-go-v2,legacy path", "aws-sdk-go-v2-standard@legacy"),
    ("aws-sdk-go-v2,retries2026 path", "aws-sdk-go-v2-standard@retries2026"),
    ("finagle,4feb34c,Backoff.exponentialJittered", "finagle-exponential-jittered@4feb34c"),
    ("finagle,4feb34c,Backoff.equalJittered", "finagle-equal-jittered@4feb34c"),
    ("finagle,4feb34c,Backoff.decorrelatedJittered", "finagle-decorrelated-jittered@4feb34c"),
    ("spring-retry,c8977dd", "spring-retry-exponential-random@c8977dd"),
    ("tower / linkerd2-proxy,8358ee7/29637b6", "linkerd2-proxy-connect@29637b6"),
    (
        "tower / linkerd2-proxy,8358ee7/29637b6",
        "tower-backoff@0.5.3 min = '100ms' max = '10s' scale = [1, 1.1]",
    ),
    ("azure-sdk-for-go,0f9d9f4", "azure-sdk-go@0f9d9f4"),
    ("k8s client-go,32ce75a,retry.DefaultBackoff", "k8s-default-backoff@32ce75a"),
    ("k8s client-go,32ce75a,ItemExponentialFailureRateLimiter", "k8s-workqueue@32ce75a"),
    ("kubelet,v1beta1", "kubelet-crash-loop@v1beta1"),
    ("grpc-go,4793ad0", "grpc-go-connect@4793ad0"),
    ("cenkalti/backoff,720b789", "cenkalti-backoff@4.3.0"),
    ("temporal (service client),6805cae", "temporal-service-client@6805cae"),
    ("gax-go,5a1e0eb", "gax-go@5a1e0eb"),
    ("envoy,backoff_strategy.cc", "envoy-retry@1"),
    ("hashicorp/go-retryablehttp,fd00458,DefaultBackoff", "go-retryablehttp@fd00458"),
    (
        "hashicorp/go-retryablehttp,fd00458,LinearJitterBackoff",
        "go-retryablehttp-linear-jitter@fd00458",
    ),
    ("sidekiq,1bb4aa0", "sidekiq-retry@8.1.7"),
    ("aws-sdk-java-v2,25787b3", "aws-sdk-java-v2-standard@25787b3"),
    ("jedis,9bcb5c6", "jedis-cluster@9bcb5c6 attempts = 13"),
];

/// Rows of the reference table that have no preset, and why.
const WITHOUT: [(u32, &str); 1] = [(72, "asyncpg, pgx and SQLAlchemy have no retry of their own")];

/// What presets make of a server's hint how long to wait; all others ignore it.
const HINTS: [(&str, Hint); 31] = [
    ("botocore-standard@1.44.0", Hint::Within(FIVE)),
    ("botocore-standard-throttling@1.44.0", Hint::Within(FIVE)),
    ("botocore-standard-dynamodb@1.44.0", Hint::Within(FIVE)),
    ("botocore-adaptive@1.44.0", Hint::Within(FIVE)),
    ("deadline-no-overflow@8e776e1+botocore-1.31.21", Hint::Spread(0.2)),
    ("deadline-no-overflow@8e776e1+botocore-1.34.107", Hint::Spread(0.2)),
    ("deadline-no-overflow@8e776e1+botocore-1.44.0", Hint::Spread(0.2)),
    ("smithy-util-retry-standard@4.2.0", Hint::AtLeast),
    ("smithy-util-retry-throttling@4.2.0", Hint::AtLeast),
    ("smithy-core-standard@3.41.1", Hint::Within(FIVE)),
    ("smithy-core-throttling@3.41.1", Hint::Within(FIVE)),
    ("aws-sdk-go-v2-standard@retries2026", Hint::Within(FIVE)),
    ("aws-sdk-java-v2-standard@25787b3", Hint::AtLeast),
    ("aws-sdk-java-v2-legacy@25787b3", Hint::AtLeast),
    ("aws-sdk-java-v2-legacy-throttling@25787b3", Hint::AtLeast),
    ("smithy-rs-standard@56ee88c", Hint::Replace(Span::MAX)),
    ("urllib3-retry@2.8.0", Hint::Replace(Span::MAX)),
    ("azure-core-py-retry@1.41.0", Hint::Replace(Span::MAX)),
    ("openai-python@3.57.0", Hint::Replace(Span::from_secs(120))),
    ("anthropic-python@2.14.0", Hint::Replace(Span::MAX)),
    ("openai-node@6.49.0", Hint::Replace(Span::MAX)),
    ("grpc-js-retry@1.14.7", Hint::Replace(Span::MAX)),
    ("grpc-go-retry@4793ad0", Hint::Replace(Span::MAX)),
    ("axios-retry@4.5.0", Hint::AtLeast),
    ("axios-retry-exponential@4.5.0", Hint::Spread(0.2)),
    ("axios-retry-linear@4.5.0", Hint::AtLeast),
    ("got@14.6.6", Hint::Replace(Span::MAX)),
    ("ky@1.14.3", Hint::Replace(Span::MAX)),
    ("backoff-rs@0.4.0", Hint::Replace(Span::MAX)),
    ("azure-sdk-go@0f9d9f4", Hint::GiveUpAbove(Span::from_secs(60))),
    ("go-retryablehttp@fd00458", Hint::Replace(Span::MAX)),
];
/// By how much the AWS SDKs of 2026 let a server lengthen a delay.
const FIVE: Span = Span::from_secs(5);

/// Figures of a library at one attempt.
struct Row {
    attempt: u32,
    min: f64,
    mean: f64,
    max: f64,
    quantiles: [(f64, f64); 3],
    n: f64,
}

/// Series by name, with their rows in order.
fn series(csv: &str) -> Vec<(String, Vec<Row>)> {
    let mut all: Vec<(String, Vec<Row>)> = Vec::new();
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    for record in reader.records() {
        let record = record.unwrap();
        let name = record.iter().take(4).collect::<Vec<_>>().join(",");
        let figure = |index: usize| record[index].parse::<f64>().unwrap();
        let row = Row {
            attempt: figure(4) as u32,
            min: figure(5),
            mean: figure(6),
            max: figure(7),
            quantiles: [(0.1, figure(8)), (0.5, figure(9)), (0.9, figure(10))],
            n: figure(11),
        };
        match all.last_mut() {
            Some((last, rows)) if *last == name => rows.push(row),
            _ => all.push((name, vec![row])),
        }
    }
    all
}

/// The presets that a series holds for, with the parameters that it was drawn with.
fn held_to(name: &str) -> Vec<(&'static str, Retry)> {
    let named = SERIES.iter().filter(|(start, _)| name.starts_with(start));
    named.map(|(_, spec)| retry(spec)).collect()
}

/// A preset, and its rule with the parameters beside its name.
fn retry(spec: &'static str) -> (&'static str, Retry) {
    let (preset, given) = spec.split_once(' ').unwrap_or((spec, ""));
    let text = format!("[it]\npreset = '{preset}'\n{}", given.replace("' ", "'\n"));
    let text = text.replace(" retries", "\nretries");
    match parse_backoffs("series", &text) {
        Ok(mut found) => (preset, found.remove(0).retry),
        Err(error) => panic!("{spec}: {error}"),
    }
}

/// How far our draws are from a row, in standard errors; what is wrong beyond that is written down.
fn deviation(row: &Row, bounds: (Span, Span), draws: &[f64], wrong: &mut String) -> f64 {
    let ours = f64::from(CLIENTS);
    let mean = draws.iter().sum::<f64>() / ours;
    let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / ours;
    let unsure = DIGITS * row.mean + 1e-6;
    let error = (variance / row.n + variance / ours).sqrt();
    let off = ((mean - row.mean).abs() - unsure).max(0.0);
    let mut worst = if off > 0.0 { off / error.max(1e-12) } else { 0.0 };
    for (share, quantile) in row.quantiles {
        let unsure = DIGITS * quantile + 1e-6;
        let part =
            |below: &dyn Fn(f64) -> bool| draws.iter().filter(|&&x| below(x)).count() as f64 / ours;
        let below = part(&|x| x < quantile - unsure);
        let upto = part(&|x| x <= quantile + unsure);
        let error = (share * (1.0 - share) * (1.0 / row.n + 1.0 / ours)).sqrt();
        worst = worst.max((below - share).max(share - upto) / error);
    }
    let (low, high) = (bounds.0.as_secs_f64(), bounds.1.as_secs_f64());
    if row.min < low * (1.0 - DIGITS) - 1e-6 || row.max > high * (1.0 + DIGITS) + 1e-6 {
        let _ = writeln!(wrong, "  {} to {} is not within {low} to {high}", row.min, row.max);
    }
    if worst > MOST {
        let _ =
            writeln!(wrong, "  off by {worst:.1} standard errors: mean {mean}, not {}", row.mean);
    }
    worst
}

/// Compares every preset with its series of a file at every attempt; returns how many were compared and
/// the worst of it.
#[track_caller]
fn compare(csv: &str, evidence: Evidence) -> (usize, usize, String) {
    let (mut policies, mut attempts, mut wrong) = (0, 0, String::new());
    let mut worst = (0.0, String::new());
    for (name, rows) in &series(csv) {
        let held = held_to(name);
        assert!(!held.is_empty(), "no preset for {name}");
        for (preset, retry) in held {
            assert_eq!(Preset::named(preset).unwrap().evidence, evidence, "{preset}");
            let mut steps = Sequences::new(&retry, CLIENTS, 12);
            for row in rows {
                let step = row.attempt - rows[0].attempt;
                let draws: Vec<f64> =
                    steps.next().unwrap().into_iter().map(Span::as_secs_f64).collect();
                let mut found = String::new();
                let off = deviation(row, retry.delay.range(step), &draws, &mut found);
                if off > worst.0 {
                    worst = (off, format!("{off:.2} ({preset}, attempt {})", row.attempt));
                }
                if !found.is_empty() {
                    let _ = write!(wrong, "{preset}, attempt {}\n{found}", row.attempt);
                }
                attempts += 1;
            }
            policies += 1;
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
    (policies, attempts, worst.1)
}

#[test]
#[allow(clippy::disallowed_macros, reason = "it says how close it came")]
fn every_preset_draws_what_its_library_drew() {
    let (policies, attempts, worst) = compare(GOLDEN, Evidence::Run);
    println!("run: {policies} policies, {attempts} attempts, worst deviation {worst}");
    assert_eq!((policies, attempts), (91, 1_091));
}

#[test]
#[allow(clippy::disallowed_macros, reason = "it says how close it came")]
fn every_replica_draws_what_its_formula_drew() {
    let (policies, attempts, worst) = compare(REPLICA, Evidence::Replica);
    println!("replica: {policies} policies, {attempts} attempts, worst deviation {worst}");
    assert_eq!((policies, attempts), (22, 264));
}

#[test]
fn a_wrong_formula_is_found() {
    let (_, rows) = series(GOLDEN).swap_remove(0);
    let text = "[it]\npreset = 'botocore-standard@1.44.8'\nbase = '51ms'";
    let retry = parse_backoffs("it", text).unwrap().remove(0).retry;
    let draws: Vec<f64> = Sequences::new(&retry, CLIENTS, 12)
        .next()
        .unwrap()
        .into_iter()
        .map(Span::as_secs_f64)
        .collect();
    let mut wrong = String::new();
    assert!(deviation(&rows[0], retry.delay.range(0), &draws, &mut wrong) > MOST, "{wrong}");
}

/// A preset is said to have been run, or replicated, only if there are draws to hold it to.
#[test]
fn evidence_is_claimed_only_where_there_are_draws() {
    for preset in presets() {
        let compared = SERIES.iter().any(|(_, spec)| {
            let named = Preset::named(spec.split(' ').next().unwrap());
            std::ptr::eq(named.unwrap(), preset)
        });
        assert_eq!(compared, preset.evidence != Evidence::Read, "{}", preset.reference());
    }
}

#[test]
fn clients_of_web_services_heed_a_servers_hint_and_generic_libraries_do_not() {
    for (known, _) in HINTS {
        assert!(presets().iter().any(|preset| preset.reference() == known), "{known}");
    }
    for preset in presets() {
        let name = preset.reference();
        let known = HINTS.iter().find(|(known, _)| *known == name);
        let rule = backoffs(&name).unwrap().remove(0).retry;
        assert_eq!(rule.hint, known.map_or(Hint::Ignore, |(_, hint)| *hint), "{name}");
    }
}

#[test]
#[allow(clippy::disallowed_macros, reason = "it shows the list")]
fn every_row_of_the_reference_has_its_presets_or_a_reason() {
    for row in 1..=73 {
        let presets = presets().iter().filter(|preset| preset.row == Some(row));
        let presets: Vec<String> =
            presets.map(|preset| format!("{} ({})", preset.reference(), preset.evidence)).collect();
        let reason = WITHOUT.iter().find(|(without, _)| *without == row);
        let shown = match (presets.is_empty(), reason) {
            (false, None) => presets.join(", "),
            (true, Some((_, why))) => format!("none: {why}"),
            _ => panic!("row {row} must have presets or a reason: {presets:?}, {reason:?}"),
        };
        println!("row {row:2}  {shown}");
    }
}
