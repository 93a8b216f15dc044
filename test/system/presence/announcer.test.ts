import test from 'ava';
import {isNewer, parsePresence} from '../../../api/presence.js';
import {createAnnouncer} from '../../../system/presence/announcer.js';

function anAnnouncer() {
	const said: string[] = [];
	const announcer = createAnnouncer({
		node: 'node-a',
		boot: 'boot-1',
		publish(topic, payload, {retain}) {
			if (topic !== 'troupe/v1/nodes/node-a/presence' || !retain) throw new Error(`${topic} ${String(retain)}`);
			const {state, connection} = parsePresence(payload) ?? {state: 'garbage', connection: 0};
			said.push(`${state} ${connection}`);
		},
	});
	return {announcer, said};
}

test('each connection has its number, in its will and in what is said on it', t => {
	const {announcer, said} = anAnnouncer();
	const first = announcer.will();
	announcer.online();
	const second = announcer.will();
	announcer.online();
	announcer.restarting();
	t.deepEqual(said, ['online 1', 'online 2', 'restarting 2']);
	t.deepEqual(parsePresence(first.payload), {state: 'offline', boot: 'boot-1', connection: 1});
	t.deepEqual(parsePresence(second.payload), {state: 'offline', boot: 'boot-1', connection: 2});
	t.false(isNewer({state: 'offline', boot: 'boot-1', connection: 1}, {state: 'online', boot: 'boot-1', connection: 2}));
});

test('an old word about itself is answered with the new one, once, and nothing else is', t => {
	const {announcer, said} = anAnnouncer();
	const {payload: oldWill} = announcer.will();
	announcer.hear(oldWill);
	t.deepEqual(said, [], 'not connected yet');
	announcer.will();
	announcer.online();
	announcer.hear(oldWill);
	announcer.hear(JSON.stringify({state: 'online', boot: 'boot-1', connection: 2}));
	announcer.hear(JSON.stringify({state: 'offline', boot: 'boot-0', connection: 9}));
	announcer.hear('garbage');
	t.deepEqual(said, ['online 2', 'online 2']);
	announcer.restarting();
	announcer.hear(oldWill);
	t.deepEqual(said.slice(2), ['restarting 2', 'restarting 2']);
});
