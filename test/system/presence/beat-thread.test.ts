import test from 'ava';
import {startBeatThread} from '../../../system/presence/beat-thread.js';
import {systemClock} from '../../../system/time/clock.js';

test('a beat’s thread that is closed twice ends once, and both hear of it', async t => {
	const thread = startBeatThread({servers: () => ['mqtt://127.0.0.1:1'], node: 'node-a', password: 'x', boot: 'b', clock: systemClock});
	const first = thread.close();
	t.is(thread.close(), first);
	await first;
	await thread.close();
});
