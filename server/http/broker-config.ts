// `GET /troupe/v1/broker-config?folder=…[&host=…&port=…]`: the files of a Mosquitto that serves as the broker of this cluster.
//
// They hold hashes of every login, so they are for admins only. Who asks names the folder and perhaps the place; both become lines of a
// settings file, so nothing that could end a line gets through.

import {randomBytes} from 'node:crypto';
import path from 'node:path';
import {brokerConfigPath, brokerFileNames, brokerFolder, type BrokerConfigAnswer} from '../../api/broker-config.js';
import {isLoopback} from '../../api/loopback.js';
import {brokerConfigResource} from '../../api/roles.js';
import {shown} from '../../api/shown.js';
import type {OutsideUrl} from '../../system/links/outside-url.js';
import {brokerConfig} from '../broker-config.js';
import {passwordField, passwordHash} from '../mosquitto-hash.js';
import {accessOf} from './access.js';
import type {Handler} from './exchange.js';
import {refusal} from './outcome.js';
import {countOf} from './query.js';
import {sendJson} from './reply.js';
import {requireOwnRight} from './rights.js';

/** The password of `control` is the one of `--broker`; without it one is made for this answer alone. */
export const readBrokerConfig: Handler = (backend, {identity, query, response}) => {
	requireOwnRight(identity, 'get', brokerConfigResource);
	const {tokens, broker} = accessOf(backend);
	const place = placeOf(query, broker);
	const folder = folderOf(query);
	const tls = broker === undefined ? !isLoopback(place.host) : broker.url.startsWith('mqtts:');
	const at = (name: string): string => path.posix.join(folder, name);
	const controlPassword = broker?.password ?? randomBytes(32).toString('base64url');
	const files = brokerConfig({
		...place,
		passwordFile: at(brokerFileNames.passwords),
		aclFile: at(brokerFileNames.acl),
		...(tls ? {tls: {certFile: at(brokerFileNames.certificate), keyFile: at(brokerFileNames.key)}} : {}),
		logins: tokens.logins(),
		controlPassword: passwordField(passwordHash(controlPassword)),
	});
	const answer: BrokerConfigAnswer = {...files, tls, ...(broker === undefined ? {controlPassword} : {})};
	sendJson(response, 200, answer);
};

type Place = {readonly host: string; readonly port: number};

function placeOf(query: URLSearchParams, broker: OutsideUrl | undefined): Place {
	const host = query.get('host') ?? '';
	if (host === '' && broker !== undefined) return placeOfUrl(broker);
	if (host === '')
		throw refusal(`this server has no --broker, so host and port must say where Mosquitto is to listen (${brokerConfigPath})`);
	if (!/^[A-Za-z0-9.:-]{1,253}$/.test(host)) throw refusal(`host must be a name or an address, got ${shown(host)}`);
	const port = countOf(query, 'port') ?? 0;
	if (port < 1 || port > 65_535) throw refusal(`port must be from 1 to 65535, got ${shown(query.get('port'))}`);
	return {host, port};
}

function placeOfUrl({url}: OutsideUrl): Place {
	const {hostname, port} = new URL(url);
	return {host: hostname.replace(/^\[|\]$/g, ''), port: Number(port)};
}

function folderOf(query: URLSearchParams): string {
	const folder = query.get('folder') ?? brokerFolder;
	// eslint-disable-next-line no-control-regex -- those are what must not get through
	if (/^\/[^\u0000-\u001f\u007f]{0,4000}$/.test(folder)) return folder;
	throw refusal(`folder must be an absolute path in one line, got ${shown(folder)}`);
}
