#!/usr/bin/env python3
"""Another inspector of a Troupe cluster, made from docs/topics.md: inspect.py [VERB [PLACE] [MEMBER=JSON ...]]
  inspect.py tree control/nodes depth=1       inspect.py top by='"mailbox"'        (apt install python3-paho-mqtt)
  inspect.py trace filter='{"places": ["*/pods"]}' forMs=5000
Environment: TROUPE_HOME (~/.troupe), TROUPE_LOGIN (admin); else as that home has it: TROUPE_MQTT (127.0.0.1:1883), TROUPE_TOKEN"""
import json, os, sys, time, urllib.parse, uuid
sys.excepthook = lambda kind, error, _: print(f"error: {kind.__name__}: {error} (--help says what it takes)", file=sys.stderr)
words = sys.argv[1:] or ["systems"]
if {"-h", "--help"} & set(words): sys.exit(print(__doc__))
import paho.mqtt.client as mqtt
request = {"verb": words[0], **{"place": word for word in words[1:] if "=" not in word}}
request.update((member, json.loads(value)) for member, value in (word.split("=", 1) for word in words[1:] if "=" in word))
home, login = os.path.expanduser(os.environ.get("TROUPE_HOME") or "~/.troupe"), os.environ.get("TROUPE_LOGIN", "admin")
kept = lambda name: open(f"{home}/{name}").read() if os.path.exists(f"{home}/{name}") else ""
given, told = os.environ.get("TROUPE_MQTT"), json.loads(kept("endpoints.json") or "{}").get("mqtt", "mqtt://127.0.0.1")
broker = urllib.parse.urlsplit(f"mqtt://{given}" if given else told)
host, token = broker.hostname, os.environ.get("TROUPE_TOKEN") or kept("admin.token").strip()
if not token: sys.exit(f"error: {home} has no admin.token: set TROUPE_HOME to the home of a cluster, or TROUPE_TOKEN")
asking, answering = (f"troupe/v1/inspect/{way}/{login}/{uuid.getnode()}-{os.getpid()}" for way in ("requests", "replies"))
state, renewed = {"next": 0, "exit": None}, time.monotonic()
def draw(actor, depth=0):
    waiting = f"  {actor['waiting']} waiting" if actor["waiting"] else ""
    print("  " * depth + (actor["name"] or actor["address"]), "" if actor["state"] == "running" else actor["state"].upper(), actor["about"] + waiting)
    for child in actor["children"]: draw(child, depth + 1)
def show(value):
    for system in value.get("systems", []): show(system.get("value") or system)
    for entry in value.get("entries", []): print(entry.get("atMs", ""), entry.get("address", entry.get("system")), json.dumps(entry.get("message", entry)))
    if "children" in value: draw(value)
    elif not value.keys() & {"systems", "entries"}: print(json.dumps(value, indent=2))
def on_connect(client, _, flags, code, *properties):
    if code != 0: sys.exit(f"error: {host} refuses the login {login}: {mqtt.connack_string(code)} (TROUPE_LOGIN, TROUPE_TOKEN)")
    client.subscribe(answering)
def on_message(client, _, message):
    reply = json.loads(message.payload)
    if reply["seq"] != state["next"]: print("some of the answer was lost", file=sys.stderr)
    state["next"] = reply["seq"] + 1
    if reply["ok"]: show(reply["value"])
    if reply["end"]: state["exit"] = 0 if reply["ok"] else f"error: {reply['error']['message']}"
client = mqtt.Client(*([mqtt.CallbackAPIVersion.VERSION2] if hasattr(mqtt, "CallbackAPIVersion") else []))
client.username_pw_set(login, token)
client.on_connect, client.on_message = on_connect, on_message
client.on_subscribe = lambda client, *_: client.publish(asking, json.dumps(request))
if broker.scheme == "mqtts": client.tls_set(f"{home}/ca.crt")
client.connect(host, broker.port or 1883)
while state["exit"] is None:
    try:
        if client.loop(1) != 0 and state["exit"] is None: sys.exit(f"error: {host} has closed the connection")
        if time.monotonic() > renewed + 5: renewed = client.publish(asking, '{"verb": "renew"}') and time.monotonic()
    except KeyboardInterrupt: client.publish(asking, '{"verb": "close"}')
sys.exit(state["exit"])
