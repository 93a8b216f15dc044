import test from 'ava';
import {admitCreate} from '../../api/admission.js';
import {graceMsOf, type ClusterConfig} from '../../api/kinds/clusterconfig.js';
import {limits} from '../../api/limits.js';

const config = (grace: unknown) =>
	admitCreate({apiVersion: 'troupe.dev/v1', kind: 'ClusterConfig', metadata: {name: 'cluster'}, spec: {nodes: {grace}}});

test('the grace of nodes is a length of time within bounds', t => {
	for (const [grace, ms] of [
		['1s', 1_000],
		['1500ms', 1_500],
		['5', 5_000],
		['10m', 600_000],
	] as const) {
		const admitted = config(grace);
		if (admitted.ok) t.is(graceMsOf(admitted.value as ClusterConfig), ms, grace);
		else t.fail(grace);
	}
	for (const grace of ['999ms', '10m1s', '0', '', '-1s', 'soon', '1e3s']) {
		const admitted = config(grace);
		if (admitted.ok) t.fail(grace);
		else t.regex(admitted.error.message, /spec\.nodes\.grace.* must be a length of time from 1s to 10m/);
	}
	t.false(config(5).ok);
});

test('a ClusterConfig of before there was a grace has the usual one', t => {
	t.is(graceMsOf(undefined), limits.nodeGraceMs);
	t.is(graceMsOf({spec: {}}), limits.nodeGraceMs);
	const bare = admitCreate({apiVersion: 'troupe.dev/v1', kind: 'ClusterConfig', metadata: {name: 'cluster'}});
	t.like(bare, {ok: true, value: {spec: {nodes: {grace: '5s'}}}});
});
