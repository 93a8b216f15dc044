// How a SlurmJob gets to its login node: hosts that are listed, logins, and keys that are expected.

import test from 'ava';
import {accessOf} from '../../../server/slurm/access.js';
import {sealsOf} from '../../../server/seal.js';
import {sealedDraft} from '../../../server/secrets.js';
import type {ApiObject} from '../../../api/object.js';
import type {SlurmJobSpec, SlurmJobStatus} from '../../../api/kinds/slurmjob.js';
import {testCluster} from '../cluster.js';
import {aSlurmJob} from './_slurm.js';

const metadata = (name: string) => ({
	name,
	uid: `uid-of-${name}`,
	resourceVersion: '1',
	generation: 1,
	creationTimestamp: '2030-01-01T00:00:00Z',
});
const seals = sealsOf(Buffer.alloc(32, 7));
const pin = `SHA256:${'A'.repeat(43)}`;

function world(slurm: object, entries: Readonly<Record<string, string>> | undefined, agent?: string) {
	const cluster = testCluster();
	cluster.put({apiVersion: 'troupe.dev/v1', kind: 'ClusterConfig', metadata: metadata('cluster'), spec: {slurm}});
	if (entries !== undefined) {
		const draft = {apiVersion: 'v1', kind: 'Secret', metadata: {...metadata('hpc'), namespace: 'default'}, stringData: entries};
		cluster.put(sealedDraft(seals, draft, {namespace: 'default', name: 'hpc'}) as ApiObject);
	}
	return {
		cluster,
		access: (spec: Partial<SlurmJobSpec>, status?: SlurmJobStatus) =>
			accessOf({known: cluster.control.index, seals, agent}, aSlurmJob({secretName: 'hpc', ...spec}, status)),
	};
}

const hosts = ['login.example', '*.hpc.example', '10.0.0.7:2222'];
const login = {username: 'ann', password: 'p'};

test('a host that is not listed, a Secret that is not there and a login without a name are waited for', t => {
	const {access} = world({hosts}, login);
	for (const submitHost of ['other.example', 'login.example:2222', '10.0.0.7', 'hpc.example'])
		t.like(
			t.throws(() => access({submitHost})),
			{reason: 'HostNotListed', pause: 'untilChanged'},
			submitHost,
		);
	t.is(access({submitHost: 'a.hpc.example'}).host, 'a.hpc.example');
	t.is(access({submitHost: '10.0.0.7:2222'}).host, '10.0.0.7:2222');
	t.is(access({submitHost: ''}).host, 'login.example');
	t.like(
		t.throws(() => world({}, login).access({})),
		{reason: 'HostNotListed'},
	);
	t.like(
		t.throws(() => access({secretName: 'nothing'})),
		{reason: 'SecretMissing'},
	);
	t.like(
		t.throws(() => world({hosts}, {password: 'p'}).access({})),
		{reason: 'NoUsername'},
	);
	t.like(
		t.throws(() => world({hosts}, {username: 'ann'}).access({})),
		{reason: 'NoCredentials'},
	);
});

test('the agent of the server is for jobs without a Secret, and only where an admin has said so', t => {
	const without = {secretName: undefined, username: 'ann'} as unknown as Partial<SlurmJobSpec>;
	t.like(
		t.throws(() => world({hosts}, login, '/agent').access(without)),
		{reason: 'NoCredentials'},
	);
	t.deepEqual(world({hosts, useAgent: true}, login, '/agent').access(without).login, {username: 'ann', agent: '/agent'});
	t.deepEqual(world({hosts, useAgent: true}, login, '/agent').access({}).login, {username: 'ann', password: 'p'});
});

test('which key is expected: the one of the spec, those of known_hosts, or what was seen before', t => {
	const key = Buffer.from('key').toString('base64');
	const known = world({hosts}, {...login, known_hosts: `login.example ssh-ed25519 ${key}\n`});
	t.deepEqual(known.access({hostKey: pin}).pins(), [pin]);
	t.is(known.access({}).pins().length, 1);
	t.deepEqual(known.access({}).keyTypes, ['ssh-ed25519']);
	t.like(
		t.throws(() => known.access({submitHost: 'a.hpc.example'})),
		{reason: 'HostKeyUnknown'},
	);
	const {access, cluster} = world({hosts}, login);
	t.deepEqual(access({}).pins(), []);
	t.deepEqual(access({}, {phase: 'Queued', hostKey: pin}).pins(), [pin]);
	const other = aSlurmJob({}, {phase: 'Queued', host: 'login.example', hostKey: pin});
	cluster.put({...other, metadata: {...other.metadata, name: 'other', uid: 'uid-of-other'}});
	t.deepEqual(access({}).pins(), [pin]);
	t.deepEqual(access({submitHost: 'a.hpc.example'}).pins(), []);
});
