// `troupe token`: what it asks for, and what it shows.

import test from 'ava';
import {answer, openScript} from './_rig.js';

const topics = {publish: ['sensors/#', 'a/+'], subscribe: ['alerts/+'], messagesPerSecond: 5};
const row = {name: 'gw', role: 'tool', createdAtMs: 1};

test('topics and rates go with the token', async t => {
	const {requests, troupe} = await openScript(t, (_, response) => answer(response, 201, {...row, topics, token: 'troupe-x'}));
	const flags = ['--publish', 'sensors/#', '--publish', 'a/+', '--subscribe=alerts/+', '--messages-per-second', '5'];
	const {code, out} = await troupe(['token', 'create', 'gw', '--role', 'tool', ...flags]);
	t.deepEqual([code, out], [0, 'troupe-x\n']);
	t.deepEqual(JSON.parse(requests.at(-1)?.body ?? ''), {name: 'gw', role: 'tool', topics});
});

test('a filter that is none, and a rate that is no number, are told with their flag and nothing is asked', async t => {
	const {requests, troupe} = await openScript(t, (_, response) => answer(response, 500, {}));
	const wrong: readonly [string, RegExp][] = [
		['--publish=troupe/v1/#', /--publish must be filters such as sensors\/#/],
		['--subscribe=#', /--subscribe must be filters/],
		['--messages-per-second=fast', /--messages-per-second must be a whole number, got "fast"/],
		['--bytes-per-second=1', /--bytes-per-second must be a whole number from 16384/],
	];
	for (const [flag, message] of wrong) {
		const {code, err} = await troupe(['token', 'create', 'gw', '--role', 'tool', flag]);
		t.is(code, 2);
		t.regex(err, message);
	}
	t.regex((await troupe(['token', 'create', '--join', '--publish=a'])).err, /--join takes no topics/);
	t.is(requests.length, 0);
});

test('the wide list shows the topics of each token', async t => {
	const {troupe} = await openScript(t, (_, response) =>
		answer(response, 200, {
			tokens: [
				{...row, topics},
				{...row, name: 'ci'},
			],
		}),
	);
	const {out} = await troupe(['token', 'list', '-o', 'wide']);
	const [head = '', ci = '', gw = ''] = out.split('\n').map(line => line.replaceAll(/ {2,}/g, ' | '));
	t.regex(head, /NAME \| ROLE \| AGE \| EXPIRES \| PUBLISH \| SUBSCRIBE \| MESSAGES\/S \| BYTES\/S/);
	t.regex(ci, /^ci \| tool .* \| <none> \| <none> \| 1000 \| 4194304/);
	t.regex(gw, /^gw \| tool .* \| sensors\/#,a\/\+ \| alerts\/\+ \| 5 \| 4194304/);
	t.notRegex((await troupe(['token', 'list'])).out, /PUBLISH/);
});
