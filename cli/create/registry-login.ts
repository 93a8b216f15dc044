// `create secret docker-registry NAME`: what opens a registry, in the form that imagePullSecrets name. In the words of kubectl.

import {oldHub} from '../../agent/docker/images/docker-hub.js';
import type {JsonObject} from '../../api/object.js';
import {type Flags, usageError} from '../command.js';
import {readEntries, type Entry} from './data.js';

const entry = '.dockerconfigjson';
const loginFlags = ['docker-server', 'docker-username', 'docker-password', 'docker-email'] as const;

/** Those that make sense for it alone. */
export const givenLoginFlags = (flags: Flags): readonly string[] => loginFlags.filter(flag => flags.text(flag) !== undefined);

/** The Secret's type and its one entry: of a login, or of a `config.json` that `docker login` has written. Throws ERR_USAGE. */
export async function registryLoginOf(flags: Flags): Promise<{readonly type: string; readonly entries: readonly Entry[]}> {
	const others = ['from-literal', 'from-env-file'].find(flag => flags.texts(flag).length > 0) ?? (flags.text('type') && 'type');
	if (others !== undefined) throw usageError(`a docker-registry secret is made of a login or of one file; leave out --${others}`);
	const ofFile = flags.texts('from-file').length > 0;
	return {type: 'kubernetes.io/dockerconfigjson', entries: [ofFile ? await fromFile(flags) : [entry, Buffer.from(fromLogin(flags))]]};
}

/** Whatever the file is called. */
async function fromFile(flags: Flags): Promise<Entry> {
	const given = givenLoginFlags(flags);
	if (given.length > 0) throw usageError(`--from-file has the login; leave out --${given.join(' and --')}`);
	const [file, ...more] = await readEntries(flags);
	if (file === undefined || more.length > 0) throw usageError('a docker-registry secret is made of one file');
	return [entry, file[1]];
}

function fromLogin(flags: Flags): string {
	const username = flags.text('docker-username') ?? '';
	const password = flags.text('docker-password') ?? '';
	if (username === '' || password === '')
		throw usageError('a docker-registry secret needs --docker-username and --docker-password, or --from-file with a config.json of Docker');
	if (username.includes(':')) throw usageError('--docker-username must have no colon');
	const server = flags.text('docker-server') ?? `https://${oldHub}/v1/`;
	const email = flags.text('docker-email');
	const auth = Buffer.from(`${username}:${password}`).toString('base64');
	const login: JsonObject = {username, password, ...(email === undefined ? {} : {email}), auth};
	return JSON.stringify({auths: {[server]: login}});
}
