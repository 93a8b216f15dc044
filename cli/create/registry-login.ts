// `create secret docker-registry NAME`: what opens a registry, in the form that imagePullSecrets name. In the words of kubectl.

import {oldHub} from '../../agent/docker/images/docker-hub.js';
import {isObject, type JsonObject} from '../../api/object.js';
import {membersOf} from '../../api/rules/report.js';
import {shown} from '../../api/shown.js';
import {parsedJson} from '../../api/value-or.js';
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
	const config = parsedJson(Buffer.from(file[1]).toString());
	if (!isObject(config)) throw usageError(`${shown(file[0])} is no config.json of Docker: it is not a JSON object`);
	if (!Object.values(membersOf(config['auths'])).some(hasLogin)) throw usageError(withoutLogin(file[0], config));
	return [entry, file[1]];
}

const hasLogin = (login: unknown): boolean => {
	const {auth, username} = membersOf(login);
	return isText(auth) || isText(username);
};

const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';

/** Docker can keep logins with another program, and then its file only names them. */
function withoutLogin(name: string, config: JsonObject): string {
	const helped = config['credsStore'] !== undefined || config['credHelpers'] !== undefined;
	const why = helped ? 'Docker keeps them with a credential helper' : 'docker login writes them';
	return `${shown(name)} has no login: ${why}; --docker-username and --docker-password give one`;
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
