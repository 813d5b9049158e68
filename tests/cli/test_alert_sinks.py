"""Tests `alerts send` and `alerts test` with real servers on the loopback interface: SMTP, HTTP, an Alertmanager."""

import datetime
import email
import email.policy
import hashlib
import hmac
import http.server
import json
import os
import pathlib
import socket
import sqlite3
import subprocess
import threading
import time
import urllib.error
import urllib.request

import pytest
from aiosmtpd.controller import Controller

LISTED = {"TRACKER_ALERT_HOSTS": "127.0.0.1"}
ALERT = {"rule": "oom-risk", "severity": "critical", "state": "firing", "text": "memory at 90 of 100 MiB",
         "fix": "request 128 MiB", "job": "train", "run": "r-1", "value": 90, "limit": 100,
         "host": "node-1", "time": 1795370000}


def wait_for(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "not reached"
        time.sleep(0.05)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Post(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.requests.append((self.path, dict(self.headers), body))
        if self.server.answer == "reset":
            self.connection.close()
            return
        self.send_response(self.server.answer)
        self.send_header("Location", "/elsewhere")
        self.end_headers()
        self.wfile.write(b"an answer")

    def log_message(self, *_):
        pass


@pytest.fixture
def web():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Post)
    server.requests, server.answer = [], 200
    server.url = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


class Mailbox:
    def __init__(self):
        self.mails = []

    async def handle_DATA(self, _server, _session, envelope):
        self.mails.append((envelope.mail_from, envelope.rcpt_tos, envelope.content))
        return "250 OK"


@pytest.fixture
def mailbox():
    box = Mailbox()
    controller = Controller(box, hostname="127.0.0.1", port=free_port())
    controller.start()
    box.env = {**LISTED, "TRACKER_SMTP": f"smtp://127.0.0.1:{controller.port}",
               "TRACKER_MAIL_FROM": "tracker@example.org"}
    yield box
    controller.stop()


def send(rt, sink, alert=None, env=None):
    return rt.run("alerts", "send", sink, env={**LISTED, **(env or {}), "RT_JSON": json.dumps(alert or ALERT)})


def test_an_alert_is_read_from_a_pipe(rt, mailbox):
    def piped(text):
        return rt.run("alerts", "send", "mail:ann@example.org", env=mailbox.env, stdin=text)

    assert piped(json.dumps(ALERT)).rc == 0 and len(mailbox.mails) == 1
    for text, words in (("", "no JSON value"), (" " * 70000, "File too large")):
        done = piped(text)
        assert (done.rc, done.stderr.count("\n")) == (2, 1) and f"alerts: stdin: {words}" in done.stderr


def test_a_mail_has_both_bodies_and_a_thread(rt, mailbox):
    done = send(rt, "mail:ann@example.org,bob@example.org", env=mailbox.env)
    assert (done.rc, done.stderr) == (0, "")
    # Told once.
    assert send(rt, "mail:ann@example.org,bob@example.org", env=mailbox.env).rc == 0
    assert send(rt, "mail:ann@example.org,bob@example.org", {**ALERT, "state": "resolved", "time": 1795370400},
                env=mailbox.env).rc == 0
    (sender, recipients, first), (_, _, second) = mailbox.mails
    assert (sender, recipients) == ("tracker@example.org", ["ann@example.org", "bob@example.org"])
    first, second = (email.message_from_bytes(m, policy=email.policy.default) for m in (first, second))
    assert first["Subject"] == "[critical] oom-risk: train: memory at 90 of 100 MiB"
    assert second["Subject"].startswith("[resolved] oom-risk: train: ")
    assert first["References"] == second["References"]
    assert first["Message-ID"] != second["Message-ID"]
    assert first["Date"].datetime.timestamp() == ALERT["time"]
    assert first["List-Unsubscribe"] == "<mailto:tracker@example.org?subject=unsubscribe>"
    assert first.get_body(("plain",)).get_content().splitlines()[:2] == [
        "What      memory at 90 of 100 MiB", "Try       request 128 MiB"]
    assert "<td>request 128 MiB</td>" in first.get_body(("html",)).get_content()
    assert not first.defects


def test_a_job_cannot_write_headers_or_markup(rt, mailbox):
    job = "x\r\nBcc: eve@example.org\r\n\r\n<script>é" + "ü" * 60
    assert send(rt, "mail:ann@example.org", {**ALERT, "job": job}, env=mailbox.env).rc == 0
    mail = email.message_from_bytes(mailbox.mails[0][2], policy=email.policy.default)
    assert mail["Bcc"] is None
    assert job.replace("\r\n", "  ") in mail["Subject"]
    assert max(map(len, mailbox.mails[0][2].splitlines())) < 998
    html = mail.get_body(("html",)).get_content()
    assert "<script>" not in html and "&lt;script&gt;é" in html


@pytest.mark.parametrize("to", ["ann", "a b@example.org", "a@b@c", "ann@", "a@b\r\nDATA@x"])
def test_what_is_no_mail_address_is_refused(rt, mailbox, to):
    done = send(rt, f"mail:{to}", env=mailbox.env)
    assert done.rc == 1
    assert "not a list of at most 20 mail addresses" in done.stderr
    assert not mailbox.mails


def test_webhooks_get_what_they_read(rt, web):
    for kind in ("slack", "teams", "discord", "json"):
        done = send(rt, f"{kind}:$HOOK", {**ALERT, "job": "<a> & *b*"},
                    env={"HOOK": f"{web.url}/hook/{kind}"})
        assert (done.rc, done.stderr) == (0, ""), kind
    bodies = {path.rsplit("/", 1)[1]: json.loads(body) for path, _, body in web.requests}
    assert bodies["slack"]["text"].startswith("[critical] oom-risk: &lt;a&gt; &amp; *b*: memory at 90")
    assert bodies["slack"]["blocks"][0]["text"]["text"].endswith("Try: request 128 MiB\nRun: r-1 on node-1")
    card = bodies["teams"]["attachments"][0]["content"]
    assert card["type"] == "AdaptiveCard" and r"\<a\> & \*b\*" in card["body"][0]["text"]
    assert bodies["discord"]["allowed_mentions"] == {"parse": []}
    assert bodies["json"] == {**ALERT, "job": "<a> & *b*"}


def test_json_is_signed_with_a_key(rt, web, tmp_path):
    key = tmp_path / "key"
    key.write_text("top secret\n")
    assert send(rt, f"json:{web.url}", env={"TRACKER_ALERT_KEY_FILE": key}).rc == 0
    _, headers, body = web.requests[0]
    assert headers["X-Signature"] == "sha256=" + hmac.new(b"top secret", body, hashlib.sha256).hexdigest()


def test_an_address_may_be_a_secret(rt, web, tmp_path):
    secret = tmp_path / "url"
    secret.write_text(f"{web.url}/T0/secret\n")
    assert send(rt, f"slack:@{secret}").rc == 0
    assert send(rt, "slack:$HOOK", env={"HOOK": f"{web.url}/T0/secret"}).rc == 0
    assert [path for path, _, _ in web.requests] == ["/T0/secret"] * 2
    web.answer = 404
    done = send(rt, f"slack:@{secret}", {**ALERT, "run": "r-2"})
    assert done.rc == 1
    assert done.stderr == ("resource-tracker: alerts: 127.0.0.1: answered 404: an answer\n"
                           "resource-tracker: alerts: not kept: the sink refuses the message\n")
    assert not list(rt.state.rglob("*.alert"))


def test_an_alert_waits_until_its_sink_has_its_settings(rt, mailbox, web):
    fail_thrice(rt)
    sinks = ["--alert", "mail:ann@example.org", "--alert", "slack:$HOOK", "--alert", f"json:{web.url}"]
    without = {k: v for k, v in mailbox.env.items() if k == "TRACKER_MAIL_FROM"}
    done = rt.run("alerts", "check", *sinks, env=without)
    assert done.rc != 0
    for words in ("mail needs a server. Try: TRACKER_SMTP=", "$HOOK: not set", "Try: https://, or TRACKER_ALERT_HOSTS="):
        assert words in done.stderr
    assert done.stderr.count("kept in the outbox. Try: resource-tracker alerts flush") == 3
    assert rt.run("alerts", "flush", env={**mailbox.env, "HOOK": f"{web.url}/T0"}).rc == 0
    assert len(mailbox.mails) == 1 and sorted(path for path, _, _ in web.requests) == ["/", "/T0"]
    assert rt.run("alerts", "flush", env={**mailbox.env, "HOOK": f"{web.url}/T0"}).rc == 0
    assert len(mailbox.mails) == 1 and len(web.requests) == 2


@pytest.mark.parametrize("url, says", [
    ("http://127.0.0.1:{port}/", "no TLS"),
    ("https://127.0.0.1:{port}/", "a private address. Try: TRACKER_ALERT_HOSTS=127.0.0.1"),
    ("https://localhost:{port}/", "a private address. Try: TRACKER_ALERT_HOSTS=localhost"),
    ("https://[::ffff:127.0.0.1]:{port}/", "a private address"),
    ("https://2130706433:{port}/", "a private address"),
    ("https://example.org@127.0.0.1:{port}/", "not an address of the form https://HOST/"),
    ("file:///etc/passwd", "not an address of the form https://HOST/"),
    ("ftp://127.0.0.1/", "no TLS"),
])
def test_private_addresses_are_refused_unless_listed(rt, web, url, says):
    done = rt.run("alerts", "test", "json:" + url.format(port=web.server_port))
    assert done.rc == 1
    assert says in done.stderr
    assert done.stderr.count("\n") == 1
    assert web.requests == []


def test_a_redirection_is_not_followed(rt, web):
    web.answer = 307
    assert send(rt, f"json:{web.url}").rc == 1
    assert [path for path, _, _ in web.requests] == ["/"]


@pytest.mark.parametrize("answer", [500, 503, 429, "reset"])
def test_what_fails_is_kept_and_delivered_once_later(rt, web, answer):
    web.answer, now = answer, {**ALERT, "time": time.time()}  # what is older than a week is given up
    done = send(rt, f"json:{web.url}", now)
    assert done.rc == 1
    assert "kept in the outbox. Try: resource-tracker alerts flush" in done.stderr
    done = rt.run("alerts", "flush", env=LISTED)
    assert done.rc == 1
    assert "messages in the outbox that are not delivered yet: 1" in done.stderr
    web.answer = 200
    web.requests.clear()
    # The next one takes it along.
    assert send(rt, f"json:{web.url}", {**now, "run": "r-2"}).rc == 0
    assert sorted(json.loads(body)["run"] for _, _, body in web.requests) == ["r-1", "r-2"]
    assert rt.run("alerts", "flush", env=LISTED).rc == 0
    assert len(web.requests) == 2


def test_a_mail_server_that_is_down_for_a_day(rt):
    port, to = free_port(), "mail:ann@example.org"
    env = {**LISTED, "TRACKER_SMTP": f"smtp://127.0.0.1:{port}", "TRACKER_MAIL_FROM": "t@example.org"}

    def at(hours, *args):
        return rt.run("internal", "alerts", *args, "--now", str(ALERT["time"] + 3600 * hours),
                      env={**env, "RT_JSON": json.dumps(ALERT)})
    assert at(0, "send", to).rc == 1
    # The rule goes on to fire, and a timer flushes.
    for hours in (0.1, 1, 6, 23):
        assert at(hours, "flush", "--alert", to).rc == 1
        assert at(hours, "send", to).rc == 1
    box = Mailbox()
    controller = Controller(box, hostname="127.0.0.1", port=port)
    controller.start()
    try:
        assert at(24, "flush", "--alert", to).rc == 0
        assert at(25, "flush", "--alert", to).rc == 0
        assert at(25, "send", to).rc == 0
    finally:
        controller.stop()
    assert len(box.mails) == 1


def test_a_message_is_given_up_after_a_week(rt):
    env = {**LISTED, "TRACKER_SMTP": f"smtp://127.0.0.1:{free_port()}", "TRACKER_MAIL_FROM": "t@example.org"}

    def flush(days):
        return rt.run("internal", "alerts", "flush", "--now", str(ALERT["time"] + 86400 * days), env=env)
    assert send(rt, "mail:ann@example.org", env=env).rc == 1
    assert flush(6.9).rc == 1
    done = flush(7.1)
    assert "oom-risk of train: given up after 7 days" in done.stderr
    assert flush(7.2).stderr == ""


def test_files_of_others_in_the_outbox_are_left_alone(rt, web):
    web.answer = 500
    assert send(rt, f"json:{web.url}").rc == 1
    outbox, = rt.state.rglob("outbox")
    kept, = outbox.glob("*.alert")
    web.answer = 200
    web.requests.clear()
    kept.chmod(0o666)
    assert rt.run("alerts", "flush", env=LISTED).rc == 1
    (outbox / "bad.alert").write_bytes(b"\0\xff{")
    (outbox / "link.alert").symlink_to("/etc/passwd")
    assert rt.run("alerts", "flush", env=LISTED).rc == 1
    assert web.requests == []
    kept.chmod(0o600)
    assert rt.run("alerts", "flush", env=LISTED).rc == 1
    assert len(web.requests) == 1


@pytest.fixture
def alertmanager(tmp_path, web):
    port = free_port()
    config = tmp_path / "alertmanager.yml"
    config.write_text("route: {receiver: web, group_by: [alertname], group_wait: 1s, group_interval: 1s}\n"
                      f"receivers: [{{name: web, webhook_configs: [{{url: '{web.url}/am'}}]}}]\n")
    process = subprocess.Popen(
        ["prometheus-alertmanager", f"--config.file={config}", f"--storage.path={tmp_path / 'data'}",
         f"--web.listen-address=127.0.0.1:{port}", "--cluster.listen-address="],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}"

    def is_ready():
        try:
            with urllib.request.urlopen(f"{url}/-/ready", timeout=5) as answer:
                return answer.status == 200
        except (urllib.error.URLError, OSError):
            return False
    wait_for(is_ready, 120)
    yield url
    process.terminate()
    process.wait()


def alerts_of(url):
    with urllib.request.urlopen(f"{url}/api/v2/alerts", timeout=30) as answer:
        return json.load(answer)


def test_an_alertmanager_fires_once_and_resolves(rt, alertmanager):
    now = {**ALERT, "time": time.time()}
    for _ in range(2):
        done = send(rt, f"alertmanager:{alertmanager}/", now)
        assert (done.rc, done.stderr) == (0, "")
    wait_for(lambda: alerts_of(alertmanager))
    alert, = alerts_of(alertmanager)
    assert alert["labels"] == {"alertname": "oom-risk", "severity": "critical", "job": "train",
                               "run": "r-1", "instance": "node-1"}
    assert alert["annotations"]["summary"] == ALERT["text"]
    assert alert["status"]["state"] in ("active", "unprocessed")
    assert send(rt, f"alertmanager:{alertmanager}", {**now, "state": "resolved", "time": time.time()}).rc == 0
    wait_for(lambda: not alerts_of(alertmanager))


def test_an_alert_that_goes_on_stays_open_at_an_alertmanager(rt, alertmanager):
    """It ends by itself a day after it was posted; what is posted again starts when it first did."""
    sink, fired = f"alertmanager:{alertmanager}", time.time() - 86400 + 15

    def seconds(text):
        return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()

    def send_at(now, job):
        done = rt.run("internal", "alerts", "send", sink, "--now", str(now), env={
            **LISTED, "RT_JSON": json.dumps({k: v for k, v in {**ALERT, "job": job}.items() if k != "time"})})
        assert (done.rc, done.stderr) == (0, "")
    for job in ("goes-on", "is-killed"):
        send_at(fired, job)
    wait_for(lambda: len(alerts_of(alertmanager)) == 2)
    assert {seconds(a["startsAt"]) for a in alerts_of(alertmanager)} == {int(fired)}
    # As its tracker posts it after 8 hours; a second one within that time is not sent.
    send_at(fired + 28800, "goes-on")
    send_at(fired + 32400, "goes-on")
    wait_for(lambda: [a["labels"]["job"] for a in alerts_of(alertmanager)] == ["goes-on"])
    alert, = alerts_of(alertmanager)
    assert (seconds(alert["startsAt"]), seconds(alert["endsAt"])) == (int(fired), int(fired) + 28800 + 86400)


def test_an_alertmanager_groups_silences_and_resolves(rt, web, alertmanager):
    sink, now = f"alertmanager:{alertmanager}", {**ALERT, "time": time.time()}

    def got(status):
        """The jobs of each notification that Alertmanager has sent on with this status."""
        return [sorted(a["labels"]["job"] for a in json.loads(body)["alerts"] if a["status"] == status)
                for _, _, body in web.requests]
    silence = {"matchers": [{"name": "job", "value": "silenced", "isRegex": False}], "createdBy": "ann",
               "comment": "maintenance", "startsAt": "2020-01-01T00:00:00Z", "endsAt": "2099-01-01T00:00:00Z"}
    request = urllib.request.Request(f"{alertmanager}/api/v2/silences", json.dumps(silence).encode(),
                                     {"Content-Type": "application/json"})
    urllib.request.urlopen(request, timeout=30).close()
    assert rt.run("alerts", "silence", "--job", "never-sent", "--for", "1h").rc == 0
    for job in ("a", "b", "silenced", "never-sent"):
        assert send(rt, sink, {**now, "job": job}).rc == 0
    wait_for(lambda: ["a", "b"] in got("firing"))
    states = {a["labels"]["job"]: a["status"]["state"] for a in alerts_of(alertmanager)}
    assert states == {"a": "active", "b": "active", "silenced": "suppressed"}
    assert send(rt, sink, {**now, "job": "a", "state": "resolved", "time": time.time()}).rc == 0
    wait_for(lambda: ["a"] in got("resolved"))
    assert not any("silenced" in jobs for jobs in got("firing"))


def test_from_a_running_job_to_the_mailbox(rt, mailbox):
    job = "import signal; signal.signal(signal.SIGUSR1, lambda *_: None); signal.alarm(60); signal.pause()"
    command = f'time-limit="{rt.path}" alerts send mail:ann@example.org; kill -USR1 "$RT_PID"'
    done = rt.track("/usr/bin/python3", "-c", job, env=mailbox.env, timeout=120,
                    flags=["-i", "50ms", "--request", "time=1s", "--on-alert", command, "--job", "nightly"])
    assert done.rc == 0
    assert len(mailbox.mails) == 1
    mail = email.message_from_bytes(mailbox.mails[0][2], policy=email.policy.default)
    assert mail["Subject"].startswith("[warning] time-limit: nightly: ")
    assert done.summary["run"]["id"] in mail.get_body(("plain",)).get_content()


@pytest.mark.parametrize("text, says", [
    ("{", "RT_JSON: a key in quotes is missing (line 1, column 2)"), ("[]", "an alert has rule, text, and a state"),
    ('{"rule":"x","text":"y","state":"z"}', "an alert has rule, text, and a state"),
])
def test_what_is_no_alert_is_refused(rt, text, says):
    done = rt.run("alerts", "send", "json:https://example.org/", env={"RT_JSON": text})
    assert done.rc == 2
    assert says in done.stderr
    assert os.linesep not in done.stderr.rstrip("\n")


def test_the_rules_are_those_of_the_documentation(rt):
    text = (pathlib.Path(__file__).parents[2] / "docs/alerts.md").read_text(encoding="utf-8")
    rules = json.loads(rt.run("alerts", "rules", "--json").stdout)
    assert [r["rule"] for r in rules] == [line.split("`")[1] for line in text.splitlines()
                                         if line.startswith("| `") and line.count("|") == 5
                                         and not line.startswith("| `RT_")]
    assert len(rt.run("alerts", "rules").stdout.splitlines()) == len(rules)


def fail_thrice(rt, job="fails", env=None, flags=()):
    for _ in range(3):
        assert rt.run("run", "-q", *flags, "--job", job, "--", "sh", "-c", "exit 3", env=env).rc == 3


def test_a_job_that_fails_again_is_told_once_after_its_run(rt, mailbox):
    fail_thrice(rt, env=mailbox.env, flags=["--alert", "mail:ann@example.org"])
    wait_for(lambda: mailbox.mails)
    mail = email.message_from_bytes(mailbox.mails[0][2], policy=email.policy.default)
    assert mail["Subject"] == ("[critical] failing-again: fails: the newest 3 runs failed; the last one: exit 3")
    assert rt.run("alerts", "check", "--alert", "mail:ann@example.org", env=mailbox.env).rc == 0
    assert len(mailbox.mails) == 1
    book = json.loads(rt.run("alerts", "list", "--json").stdout)
    assert book["schema"] == "resource-tracker.alerts/1"
    entry, = book["alerts"]
    assert (entry["rule"], entry["state"], entry["told"][0]["sink"]) == ("failing-again", "firing", "mail")
    # A good run ends it.
    assert rt.run("run", "-q", "--job", "fails", "--", "true").rc == 0
    assert rt.run("alerts", "check").stdout.startswith("[resolved] failing-again: fails: ")
    assert "No alert is open" in rt.run("alerts", "list").stdout


def test_a_job_that_failed_cannot_write_headers_or_lines(rt, mailbox):
    job = "x\r\nBcc: eve@example.org\n$ rm -r x\x1b]0;t\x07"
    fail_thrice(rt, job)
    done = rt.run("alerts", "check", "--alert", "mail:ann@example.org", env=mailbox.env)
    assert done.rc == 0 and len(done.stdout.splitlines()) == 1 and "\x1b" not in done.stdout
    [(_, recipients, data)] = mailbox.mails
    mail = email.message_from_bytes(data, policy=email.policy.default)
    assert mail["Bcc"] is None and recipients == ["ann@example.org"] and not mail.defects
    assert b"\x1b" not in data
    digest = rt.run("digest").stdout
    assert "rm -r x" in digest and "\n    rm" not in digest and "\x1b" not in digest


def test_a_sink_of_a_job_with_an_odd_name_gets_its_alert(rt, mailbox):
    fail_thrice(rt, "odd\tname", env=mailbox.env, flags=["--alert", "mail:ann@example.org"])
    wait_for(lambda: mailbox.mails)
    assert b"odd name" in mailbox.mails[0][2]


def test_a_run_that_goes_on_does_not_end_the_alert_about_those_before_it(rt):
    fail_thrice(rt)
    assert rt.run("alerts", "check").stdout.startswith("[critical] failing-again: fails: ")
    with rt.start("run", "-q", "--job", "fails", "--", "sleep", "600") as process:
        wait_for(lambda: json.loads(rt.run("top", "--json").stdout)["runs"])
        assert rt.run("fleet", "--what", "runs", "--json").json()["runs"]["runs"][0]["end"] == "running"
        assert rt.run("alerts", "check").stdout == ""
        assert rt.run("digest").stdout.startswith("3 runs of 1 job")
        assert "failing-again: fails: the newest 3 runs failed" in rt.run("digest").stdout
        process.terminate()
        process.wait(240)


def test_a_run_that_is_tagged_as_a_test_raises_no_alert(rt):
    fail_thrice(rt, flags=["--tag", "test=1"])
    assert rt.run("alerts", "check").stdout == ""
    assert rt.run("run", "-q", "--job", "fails", "--tag", "test=10", "--", "sh", "-c", "exit 3").rc == 3
    assert rt.run("alerts", "check").stdout.startswith("[critical] failing-again: fails: the newest 4 runs failed")
    # A test keeps what is open, until the job has not run for two weeks.
    assert rt.run("run", "-q", "--job", "fails", "--tag", "test=1", "--", "true").rc == 0
    assert rt.run("alerts", "check").stdout == ""
    later = str(time.time() + 15 * 86400)
    assert rt.run("internal", "alerts", "check", "--now", later).stdout.startswith("[resolved] failing-again: fails: ")


def test_silenced_and_acknowledged_alerts_are_not_told(rt, mailbox):
    fail_thrice(rt, "a")
    fail_thrice(rt, "b")
    silence = rt.run("alerts", "silence", "--job", "a", "--for", "2h", "--reason", "maintenance")
    assert silence.rc == 0
    assert rt.run("alerts", "check").rc == 0
    assert rt.run("alerts", "ack", "failing-again:b").rc == 0
    to = ["--alert", "mail:ann@example.org"]
    assert rt.run("alerts", "check", *to, env=mailbox.env).rc == 0
    assert mailbox.mails == []
    listed = rt.run("alerts", "list").stdout
    assert "; silenced" in listed and "acknowledged" in listed and ": maintenance" in listed
    assert rt.run("alerts", "unsilence", silence.stdout.strip()).rc == 0
    assert rt.run("alerts", "flush", *to, env=mailbox.env).rc == 0
    assert [m[2].count(b"failing-again: a: ") for m in mailbox.mails] == [1]


@pytest.mark.parametrize("form, rc", [("%Y-%m-%d", 0), ("%Y-%m-%d 08:00", 0), ("%Y-%m-%dT08:00", 0), ("%Y-%m-%d 25:00", 2), ("%Y-%m-%d 08:00x", 2)])
def test_a_silence_ends_at_a_date(rt, form, rc):
    day = time.strftime(form, time.localtime(time.time() + 3 * 86400))
    assert rt.run("alerts", "silence", "--job", "a", "--until", day).rc == rc


@pytest.mark.parametrize("args, says", [
    (["silence"], "silence needs --duration DUR or --until DATE"),
    (["silence", "--for", "1h"], "silence needs --rule RULE, --job NAME, or both"),
    (["silence", "--rule", "oom", "--for", "1h"], "no such rule. Rules: all, oom-risk, "),
    (["silence", "--job", "a", "--for", "40d"], "not within the next 30 days"),
    (["silence", "--job", "a", "--until", "soon"], "not a date such as"),
    (["ack", "nothing"], "no open alert of this id"),
    (["unsilence", "nothing"], "no silence of this id"),
    (["test", "slack:https://hooks.slack.com/T0/secret"], "Try: slack:@FILE, or 'slack:$NAME'"),
    (["frobnicate"], "alerts: needs one of: list, rules, check"),
])
def test_bad_words_get_one_line(rt, args, says):
    done = rt.run("alerts", *args)
    assert done.rc in (2, 4)
    assert says in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("line, says", [
    ('alert = ["mail:a@b", "fax:1"]', "--alert fax: not of the form [RULE=]KIND:ADDRESS. Kinds: mail, "), ('alert = ["no-such-rule=mail:a@b"]', "not of the form [RULE=]KIND:ADDRESS"),
    ('alert = ["oom-risk"]', "not of the form [RULE=]KIND:ADDRESS"), ('quiet-hours = "22:00-07:00"', "quiet-hours has gone. Use: "),
    ('on-alert = ["oom=true"]', "not of the form RULE=COMMAND"),
])
def test_a_bad_rule_in_the_configuration_has_its_line(rt, tmp_path, line, says):
    config = tmp_path / "rules.toml"
    config.write_text(f"# rules\n[alerts]\n{line}\n")
    done = rt.run("alerts", "check", "--config", config)
    assert done.rc == 2
    assert done.stderr.startswith(f"resource-tracker: {config}:3: ")
    assert says in done.stderr
    assert done.stderr.count("\n") == 1
    # A job whose configuration is named does not start.
    done = rt.run("run", "--config", config, "--", "touch", tmp_path / "started")
    assert done.rc == 125
    assert done.stderr.startswith(f"resource-tracker: {config}:3: ") and says in done.stderr
    assert not (tmp_path / "started").exists()


def test_quiet_hours_have_gone(rt, mailbox, tmp_path):
    """The option and the key stop a command; an inherited variable is reported and ignored."""
    says = "has gone. Use: --alert alertmanager:URL"
    for words in (["alerts", "check"], ["digest"]):
        done = rt.run(*words, "--quiet-hours", "22:00-07:00")
        assert done.rc == 2 and says in done.stderr and done.stderr.count("\n") == 1
    assert rt.run("run", "--quiet-hours", "22:00-07:00", "--", "true").rc == 125
    config = tmp_path / "c.toml"
    config.write_text('[alerts]\nquiet-hours = "22:00-07:00"\n')
    done = rt.run("alerts", "check", "--config", config)
    assert done.rc == 2 and f"{config}:2: --quiet-hours {says}" in done.stderr and done.stderr.count("\n") == 1
    done = rt.track("true", env={"TRACKER_QUIET_HOURS": "22:00-07:00"})
    assert done.rc == 0 and done.stderr.count(f"TRACKER_QUIET_HOURS {says}") == 1


def test_several_alerts_of_a_sink_are_one_mail(rt, mailbox):
    to = "mail:ann@example.org"
    alert = {**ALERT, "rule": "stalled", "severity": "warning"}
    assert rt.run("alerts", "silence", "--rule", "stalled", "--for", "1d").rc == 0
    for run in "r-1", "r-2":
        done = rt.run("alerts", "send", to, env={**mailbox.env, "RT_JSON": json.dumps({**alert, "run": run})})
        assert done.rc == 0
    assert mailbox.mails == []
    silence = rt.run("alerts", "list", "--json").json()["silences"][0]["id"]
    assert rt.run("alerts", "unsilence", silence).rc == 0
    assert rt.run("alerts", "flush", "--alert", to, env=mailbox.env).rc == 0
    mail = email.message_from_bytes(mailbox.mails[0][2], policy=email.policy.default)
    assert mail["Subject"].startswith("[warning] stalled: 2 alerts of stalled: train, train")
    assert mail.get_body(("plain",)).get_content().count("[warning] stalled: train: ") == 2
    assert len(mailbox.mails) == 1


def test_a_sink_that_hangs_keeps_nobody_waiting_for_others(rt, web):
    """And what it was to get is delivered once it answers, though the process that sent it was killed."""
    with socket.socket() as deaf:
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        deaf.bind(("127.0.0.1", 0))
        deaf.listen()
        place = deaf.getsockname()
        hung = subprocess.Popen([rt.path, "alerts", "send", f"json:http://127.0.0.1:{place[1]}"],
                                env={**os.environ, **LISTED, "RESOURCE_TRACKER_DIR": str(rt.state),
                                     "RT_JSON": json.dumps({**ALERT, "job": "other", "run": "r-hung"})}, stderr=subprocess.DEVNULL)
        try:
            connection, _ = deaf.accept()
            # While the first one waits for its answer, and holds its message.
            assert send(rt, f"json:{web.url}").rc == 0
            # A sink of one job gets nothing of another one.
            assert [json.loads(body)["job"] for _, _, body in web.requests] == ["train"]
        finally:
            hung.kill()
            hung.wait()
        connection.close()
    server = http.server.ThreadingHTTPServer(place, Post)
    server.requests, server.answer = [], 200
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        assert rt.run("alerts", "flush", env=LISTED).rc == 0
        assert rt.run("alerts", "flush", env=LISTED).rc == 0
    finally:
        server.shutdown()
        server.server_close()
    assert [json.loads(body)["run"] for _, _, body in server.requests] == ["r-hung"]


def test_a_sink_that_never_answers_is_given_up_and_tried_again(rt):
    """It takes the connection and says nothing: the sender gives up by itself, and keeps the message."""
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen()
        done = send(rt, f"json:http://127.0.0.1:{deaf.getsockname()[1]}")
    assert done.rc == 1
    assert "kept in the outbox. Try: resource-tracker alerts flush" in done.stderr
    assert len(list(rt.state.rglob("*.alert"))) == 1


def test_a_digest_names_what_will_fail_once_a_week(rt, mailbox):
    fail_thrice(rt, "broken")
    shown = json.loads(rt.run("digest", "--json").stdout)
    assert shown["schema"] == "resource-tracker.digest/1"
    assert [(a["rule"], a["job"]) for a in shown["alerts"]] == [("failing-again", "broken")]
    text = rt.run("digest").stdout
    assert "failing-again: broken: the newest 3 runs failed" in text
    for _ in range(2):
        done = rt.run("digest", "--alert", "mail:ann@example.org", env=mailbox.env)
        assert (done.rc, done.stderr) == (0, "")
    assert len(mailbox.mails) == 1
    mail = email.message_from_bytes(mailbox.mails[0][2], policy=email.policy.default)
    assert mail["Subject"].startswith("[info] digest: ")
    assert "<h2>What will fail, and what has changed</h2>" in mail.get_body(("html",)).get_content()
    assert "failing-again: broken: " in mail.get_body(("plain",)).get_content()


@pytest.mark.parametrize("send_it", [False, True])
def test_a_digest_takes_no_news_from_a_check(rt, mailbox, tmp_path, send_it):
    fail_thrice(rt, "broken")
    told, command = tmp_path / "told", 'echo "$RT_STATE" >> "$TOLD"'
    check = ["alerts", "check", "--on-alert", f"failing-again={command}"]
    digest = ["digest", "--alert", "mail:ann@example.org"] if send_it else ["digest"]
    env = {**mailbox.env, "TOLD": str(told)}

    def run(words):
        done = rt.run(*words, env=env)
        assert (done.rc, done.stderr) == (0, "")
        return done.stdout
    run(digest)
    assert "failing-again: broken: " in run(check)
    assert run(check) == "" and told.read_text() == "firing\n"
    assert rt.run("run", "-q", "--job", "broken", "--", "true").rc == 0
    run(digest)
    assert "failing-again: broken: " not in run(["digest"])
    assert "[resolved] failing-again: broken: " in run(check)
    assert told.read_text() == "firing\nresolved\n" and len(mailbox.mails) == send_it


def test_a_digest_says_what_a_changed_request_saved(rt):
    for cores in [8] * 4 + [2] * 3:
        assert rt.run("run", "-q", "--no-discovery", "--job", "train", "--request", f"cpu={cores}", "--request", "mem=4G",
                      "--", "true").rc == 0
    for _ in range(4):
        assert rt.run("run", "-q", "--no-discovery", "--job", "as-ever", "--request", "cpu=8", "--", "true").rc == 0
    assert "train" in rt.run("history").stdout
    with sqlite3.connect(rt.state / "history.sqlite") as history:
        history.execute("UPDATE run SET duration_s = 36000")
    history.close()
    # 10 hours of 8 or 2 cores, and of 4 GiB.
    before, since = (10 * (0.0373 * cores + 0.00433 * 4) for cores in (8, 2))
    [changed] = rt.run("digest", "--json").json()["changed"]
    assert changed["job"] == "train"
    assert [changed["usd_before"], changed["usd_since"]] == pytest.approx([before, since])
    assert changed["saves_usd_month"] == pytest.approx(210 * (before - since))
    text = rt.run("digest").stdout
    assert "What was changed, and what it saved\ntrain: from 8 cores, 4 GiB to 2 cores, 4 GiB on " in text
    assert ": $3.16 -> $0.92 a run (4 runs before, 3 since), $470 a month less." in text
    assert "as-ever: from" not in text
    # A week later it is no news.
    later = str(time.time() + 8 * 86400)
    assert rt.run("internal", "digest", "--json", "--now", later).json()["changed"] == []


def test_a_budget_is_told_once_and_is_in_the_digest(rt, mailbox):
    maker = pathlib.Path(rt.path).resolve().parent / "tests/e2e/make_history"
    rt.state.mkdir(parents=True, exist_ok=True)
    subprocess.run([maker, rt.state, "1", "0.2", "0"], check=True, stdout=subprocess.DEVNULL)
    now = 1795334400  # 22 Nov 2026, 08:00 UTC
    env = {**mailbox.env, "TZ": "UTC"}
    o = rt.run("fleet", "--as-of", now, "--json", env=env).json()["overview"]
    spent = sum(day["usd"] for day in o["days"] if day["day"].startswith("2026-11"))
    ahead = sum(o["forecast"]["usd"][:8])    # 23 to 30 November; what is left of today comes on top

    moments = iter(range(now, now + 600, 60))

    def check(*args):
        done = rt.run("internal", "alerts", "check", "--now", str(next(moments)), "--alert", "budget=mail:ann@example.org", *args, env=env)
        assert (done.rc, done.stderr) == (0, "")
        return [line for line in done.stdout.splitlines() if " budget: " in line]
    assert check() == check("--budget", str(round(spent + ahead + max(o["forecast"]["usd"])))) == []
    [line] = check("--budget", str(round(spent + ahead - 1)))
    assert line.startswith("[warning] budget: this month is expected to cost $") and "Most in 30 days: job-" in line
    assert check("--budget", str(round(spent + ahead - 1))) == []
    assert len(mailbox.mails) == 1
    [entry] = [a for a in json.loads(rt.run("alerts", "list", "--json").stdout)["alerts"] if a["rule"] == "budget"]
    assert entry["job"] == "" and spent + ahead - 0.01 <= entry["value"] <= spent + ahead + max(o["forecast"]["usd"])
    assert rt.run("internal", "digest", "--now", str(now), env=env).stdout.count("\nbudget: this month") == 1
    assert "budget: this month" in rt.run("alerts", "list").stdout
    assert check("--budget", "1e9")[0].startswith("[resolved] budget: ")


@pytest.mark.parametrize("usd", ["0", "-1", "much", "nan", ""])
def test_a_budget_is_a_positive_number(rt, tmp_path, usd):
    done = rt.run("alerts", "check", "--budget", usd)
    assert (done.rc, done.stderr.count("\n")) == (2, 1)
    assert "not a positive number of dollars" in done.stderr
    config = tmp_path / "budget.toml"
    config.write_text(f"[alerts]\nbudget = '{usd}'\n")
    done = rt.run("digest", "--config", config)
    assert (done.rc, done.stderr.count("\n")) == (2, 1)
    assert done.stderr.startswith(f"resource-tracker: {config}:2: --budget {usd}: not a positive")
    # A key of another verb is no mistake for a job.
    assert rt.run("run", "-q", "--config", config, "--", "true").rc == 0


def test_a_workflow_of_github_gets_annotations_of_its_jobs(rt):
    fail_thrice(rt)
    done = rt.run("alerts", "check", env={"GITHUB_ACTIONS": "true"})
    assert done.stdout.startswith("::warning title=resource-tracker failing-again::fails: the newest 3 runs failed")


def test_a_digest_names_gpus_that_are_not_needed(rt):
    for _ in range(6):
        assert rt.run("run", "-q", "--no-discovery", "--job", "infer", "--request", "gpu=2", "--", "true").rc == 0
    assert "infer" in rt.run("history").stdout
    # As if each had taken 10 hours, in which the GPUs were measured and stood idle.
    with sqlite3.connect(rt.state / "history.sqlite") as history:
        history.execute("UPDATE run SET duration_s = 36000, gpu_mean = 0")
    history.close()
    shown = rt.run("digest", "--json").json()["gpus"]
    assert [(one["rule"], one["job"]) for one in shown] == [("gpu_unused", "infer")]
    assert ("GPUs that are not needed\ninfer requested GPUs for 120 GPU-hours in 6 runs and used none of them."
            in rt.run("digest").stdout)
    assert "infer requested GPUs for 120 GPU-hours" in " ".join(rt.run("fleet").stdout.split())
