// How a SlurmJob gets to its login node: where that is, as whom, and which key the node has to show. From what the cluster has of it.

import {createHash} from 'node:crypto';
import {clusterConfigKey} from '../../actors/addresses.js';
import {secretKey} from '../../actors/config-references.js';
import {httpHostOf, mayCall, type HttpPlace} from '../../api/http-hosts.js';
import {slurmHostsOf, type ClusterConfig} from '../../api/kinds/clusterconfig.js';
import type {Secret} from '../../api/kinds/secret.js';
import type {SlurmJob} from '../../api/kinds/slurmjob.js';
import {sshPlaceOf} from '../../api/login-node.js';
import type {Known} from '../../system/index/object-index.js';
import type {Seals} from '../seal.js';
import {openedSecret} from '../secrets.js';
import {knownKeysOf} from './known-hosts.js';
import {Held, Refused} from './held.js';
import type {SshLogin} from './ssh.js';

export type Access = {
	readonly place: HttpPlace;
	/** As people write it. */
	readonly host: string;
	readonly login: SshLogin;
	/** Fingerprints of which the node has to show one; none: the first that is seen is taken. To be asked for only where one has been shown. */
	readonly pins: () => readonly string[];
	readonly keyTypes: readonly string[];
	/** Those of the cluster, for what the name of the host leads to. */
	readonly hosts: readonly string[];
	/** The same for all jobs that may share a connection. */
	readonly sessionKey: string;
};

export type AccessParts = {
	readonly known: Pick<Known, 'get' | 'list'>;
	readonly seals: Seals;
	/** The socket of the server's SSH agent. */
	readonly agent: string | undefined;
};

/** Throws `Held` while something is missing that may come, `Refused` for what is wrong. */
export function accessOf(parts: AccessParts, job: SlurmJob): Access {
	const config = parts.known.get(clusterConfigKey) as ClusterConfig | undefined;
	const hosts = slurmHostsOf(config);
	const place = placeOf(job, hosts);
	if (!mayCall(hosts, place)) throw new Held('HostNotListed', hostNotListed(httpHostOf(place)), 'untilChanged');
	const entries = entriesOf(parts, job);
	const login = loginOf(job, entries, config?.spec?.slurm?.useAgent === true ? parts.agent : undefined);
	const host = httpHostOf(place);
	const known = entries['known_hosts'] === undefined ? undefined : knownKeysOf(entries['known_hosts'], place);
	const {hostKey: pinned} = job.spec ?? {};
	if (pinned === undefined && known?.length === 0)
		throw new Refused('HostKeyUnknown', `the entry known_hosts of the Secret "${job.spec?.secretName ?? ''}" has no key of ${host}`);
	const pins = (): readonly string[] =>
		pinned === undefined ? (known?.map(({fingerprint}) => fingerprint) ?? seenBefore(parts, job, host)) : [pinned];
	const digest = createHash('sha256').update(JSON.stringify(login)).digest('hex');
	return {place, host, login, pins, keyTypes: known?.map(({type}) => type) ?? [], hosts, sessionKey: `${host} ${login.username} ${digest}`};
}

export const hostNotListed = (host: string): string =>
	`this cluster does not let SlurmJobs go to "${host}": it has to be in the list slurm.hosts, as in: troupe config set slurm.hosts ${host} (with a comma between several)`;

function placeOf({spec, status}: SlurmJob, hosts: readonly string[]): HttpPlace {
	const named = status?.host ?? (spec?.submitHost === '' ? undefined : spec?.submitHost) ?? hosts.find(host => !host.startsWith('*'));
	if (named === undefined)
		throw new Held(
			'HostNotListed',
			'there is no submitHost, and the cluster lists no login node: troupe config set slurm.hosts HOST',
			'untilChanged',
		);
	const place = sshPlaceOf(named);
	if (place === undefined) throw new Refused('BadHost', `${named} is no login node`);
	return place;
}

type Entries = Readonly<Record<string, string | undefined>>;

function entriesOf({known, seals}: AccessParts, {metadata, spec}: SlurmJob): Entries {
	const name = spec?.secretName;
	if (name === undefined) return {};
	const object = known.get(secretKey(metadata.namespace ?? '', name));
	if (object === undefined) throw new Held('SecretMissing', `there is no Secret "${name}" in this namespace`, 'untilChanged');
	const {data = {}} = openedSecret(seals, object) as Secret;
	return Object.fromEntries(Object.entries(data).map(([entry, value]) => [entry, Buffer.from(value, 'base64').toString('utf8')]));
}

function loginOf({spec}: SlurmJob, entries: Entries, agent: string | undefined): SshLogin {
	const username = spec?.username === undefined || spec.username === '' ? entries['username'] : spec.username;
	const secret = spec?.secretName ?? '';
	if (username === undefined || username === '')
		throw new Held('NoUsername', 'there is no login: set spec.username, or the entry username of the Secret', 'untilChanged');
	const {password, passphrase, 'ssh-privatekey': privateKey} = entries;
	if (privateKey !== undefined)
		return {username, privateKey, ...(passphrase === undefined ? {} : {passphrase}), ...(password === undefined ? {} : {password})};
	if (password !== undefined) return {username, password};
	if (secret !== '')
		throw new Held('NoCredentials', `the Secret "${secret}" has neither an entry ssh-privatekey nor one password`, 'untilChanged');
	if (agent !== undefined) return {username, agent};
	throw new Held(
		'NoCredentials',
		'nothing says how to log in: name a Secret with ssh-privatekey or password by spec.secretName',
		'untilChanged',
	);
}

/** What the job has seen of its host, or other jobs of the namespace have. */
function seenBefore({known}: AccessParts, {metadata, status}: SlurmJob, host: string): readonly string[] {
	if (status?.hostKey !== undefined) return [status.hostKey];
	const keys = new Set<string>();
	for (const other of known.list('slurmjobs') as Iterable<SlurmJob>)
		if (other.metadata.namespace === metadata.namespace && other.status?.host === host && other.status.hostKey !== undefined)
			keys.add(other.status.hostKey);
	return [...keys];
}
