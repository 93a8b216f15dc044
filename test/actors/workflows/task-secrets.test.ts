// Tokens of tasks, and what they are made with: whoever only reads sees neither, wherever it looks.

import test from 'ava';
import {isSecretMember} from '../../../actors/secret-members.js';
import {secretIn} from '../../../actors/control/workflows/run-parts.js';
import {controlDesign} from '../../../actors/control/design.js';
import {objectKey} from '../../../api/keys.js';
import {replay} from '../../../system/inspect/replay.js';
import {shownOf} from '../../../system/inspect/shown.js';
import {isReplayable, type StepRecord} from '../../../system/inspect/step-record.js';
import {record} from '../_recorded.js';
import {RunCluster} from './_run-cluster.js';

const waiting = {
	StartAt: 'Ask',
	States: {
		Ask: {
			Type: 'Task',
			Resource: 'activity:ask',
			// Under a name of the author's own, and in the middle of a text.
			Parameters: {'key.$': '$$.Task.Token', 'link.$': "States.Format('https://example.com/{}/yes', $$.Task.Token)", 'all.$': '$$'},
			Next: 'Done',
		},
		Done: {Type: 'Succeed'},
	},
};

test('neither the token of a task nor the secret of its run is in records of steps, states of actors, objects or histories', t => {
	const tokens: string[] = [];
	const cluster = new RunCluster(call => {
		tokens.push((call.input as {key: string}).key);
		return {outcome: {type: 'waiting'}};
	});
	const records = record(cluster.durable.system);
	cluster.workflow('w', waiting);
	cluster.begin('w', 'one');
	cluster.settle();
	const run = objectKey('runs', 'default', 'one');
	const secret = secretIn(cluster.durable.index, run) ?? '';
	const [token = ''] = tokens;
	t.regex(token, /~[0-9a-f]{40}$/);
	t.is(secret.length, 36);
	const states: unknown[] = [];
	for (const cell of cluster.durable.system.kernel.cells.values()) states.push(shownOf(cell.state, {depth: 30, isSecret: isSecretMember}));
	t.true(JSON.stringify(states).includes('"key":{"$":"secret"}'), 'the call is among what is shown');
	cluster.tellRun('one', {type: 'taskAnswered', task: {token}, outcome: {type: 'succeeded', output: 1}});
	t.is(cluster.untilOver('one').status?.phase, 'Succeeded');
	const steps = records.filter(isReplayable).filter(({address}) => address.includes('default.one'));
	t.true(steps.length > 3 && steps.every(({address}) => records.every(each => each.address !== address || isReplayable(each))));
	const told = JSON.stringify([states, records, cluster.changes]);
	for (const text of [secret, token.replace(/^.*~/, '')]) t.false(told.includes(text));
	const played = [...replay(JSON.parse(JSON.stringify(records)) as StepRecord[], controlDesign.behaviors)].filter(
		step => step.type === 'played',
	);
	t.true(
		played.some(({record: {redacted}}) => redacted === true),
		'what was left out is said',
	);
	t.true(
		played.some(({isSame, record: {context}}) => isSame && context.reads?.some(({parts}) => parts !== undefined) === true),
		'parts that are not secret are played again',
	);
});
