// What a pod may say of whom its programs ask for names. The bounds are those of Kubernetes.

import {limits} from '../limits.js';
import type {JsonObject} from '../object.js';
import {shown} from '../shown.js';
import {isIPv4, isIPv6} from './address.js';
import {itemsOf, membersOf, refuse, textOf, type Found} from './report.js';

/** `path` is that of the pod's spec. */
export function checkPodDns(found: Found, path: string, spec: JsonObject): void {
	const at = `${path}.dnsConfig`;
	const {nameservers, searches, options} = membersOf(spec['dnsConfig']);
	checkNameservers(found, `${at}.nameservers`, itemsOf(nameservers));
	if (spec['dnsPolicy'] === 'None' && itemsOf(nameservers).length === 0)
		refuse(found, `${at}.nameservers`, 'must name at least one server with dnsPolicy None', 'FieldValueRequired');
	checkSearches(found, `${at}.searches`, itemsOf(searches));
	checkOptions(found, `${at}.options`, itemsOf(options));
}

function checkNameservers(found: Found, path: string, servers: readonly unknown[]): void {
	if (servers.length > limits.podNameservers)
		refuse(found, path, `must be at most ${limits.podNameservers} servers, got ${servers.length}`);
	servers.forEach((server, i) => {
		if (typeof server === 'string' && !isIPv4(server) && !isIPv6(server))
			refuse(found, `${path}[${i}]`, `must be an IP address, got ${shown(server)}`);
	});
}

/** The root alone, or labels of DNS; underscores are of service discovery. */
const domain = /^(?:\.|(?:[a-z0-9_](?:[-a-z0-9_]*[a-z0-9])?\.)*[a-z0-9_](?:[-a-z0-9_]*[a-z0-9])?\.?)$/;

function checkSearches(found: Found, path: string, searches: readonly unknown[]): void {
	if (searches.length > limits.podSearches) refuse(found, path, `must be at most ${limits.podSearches} domains, got ${searches.length}`);
	const {length} = searches.join(' ');
	if (length > limits.podSearchCharacters)
		refuse(found, path, `must have at most ${limits.podSearchCharacters} characters in all, spaces included, got ${length}`);
	searches.forEach((search, i) => {
		if (typeof search === 'string' && !(search.length <= 254 && domain.test(search)))
			refuse(found, `${path}[${i}]`, `must be a domain such as shop.example.com, got ${shown(search)}`);
	});
}

/** Words of one line, apart by spaces; a colon stands between name and value. */
const optionName = /^[^\s\p{C}:]{1,64}$/u;
const optionValue = /^[^\s\p{C}]{0,64}$/u;

function checkOptions(found: Found, path: string, options: readonly unknown[]): void {
	if (options.length > limits.podDnsOptions) refuse(found, path, `must be at most ${limits.podDnsOptions} options, got ${options.length}`);
	options.forEach((option, i) => {
		const {name, value} = membersOf(option);
		const called = textOf(name) ?? '';
		if (called === '') refuse(found, `${path}[${i}].name`, 'must not be empty', 'FieldValueRequired');
		else if (!optionName.test(called))
			refuse(found, `${path}[${i}].name`, `must be the name of an option such as ndots, at most 64 characters, got ${shown(called)}`);
		const said = textOf(value) ?? '';
		if (!optionValue.test(said)) refuse(found, `${path}[${i}].value`, `must be without spaces, at most 64 characters, got ${shown(said)}`);
	});
}
