// The syntax of names, label keys and label values, as Kubernetes has it.

import {shown} from '../shown.js';
import {refuse, type Found} from './report.js';

const label = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const qualifiedPart = /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/;
const prefix = /^[a-z0-9]([-a-z0-9.]*)$/;

const labelLength = 63;
const subdomainLength = 253;

/** A label of RFC 1123: namespaces, containers, host names. */
export const isDnsLabel = (text: string): boolean => text.length <= labelLength && label.test(text);

/** A name of RFC 1123, dots allowed: most objects. */
export const isDnsSubdomain = (text: string): boolean => text.length <= subdomainLength && subdomain.test(text);

export const isLabelValue = (text: string): boolean => text === '' || (text.length <= labelLength && qualifiedPart.test(text));

/** A key of labels, annotations, taints and finalizers: a name, behind a DNS prefix and a slash if one likes. */
export function isQualifiedName(text: string): boolean {
	const slash = text.indexOf('/');
	const name = text.slice(slash + 1);
	if (name.length > labelLength || !qualifiedPart.test(name)) return false;
	return slash < 0 || isDnsSubdomain(text.slice(0, slash));
}

/** What makes a generated name when something is put behind it. */
export const isNamePrefix = (text: string): boolean => text.length <= subdomainLength && prefix.test(text);

const labelWords = 'lower-case letters, digits and "-", with a letter or digit at both ends, at most 63 characters';
const subdomainWords = 'lower-case letters, digits, "-" and ".", with a letter or digit at both ends, at most 253 characters';
export const labelKeyWords =
	'letters, digits, "-", "_" and ".", with a letter or digit at both ends, at most 63 characters, behind a DNS prefix and "/" if wanted';
const labelValueWords = 'letters, digits, "-", "_" and ".", with a letter or digit at both ends, at most 63 characters, or empty';

/** What HTTP takes as the name of a header or a cookie (RFC 9110, section 5.6.2). */
export const isToken = (text: string): boolean => text.length <= 256 && /^[-!#$%&'*+.^_`|~0-9A-Za-z]+$/.test(text);

export function checkDnsLabel(found: Found, path: string, text: string): void {
	if (!isDnsLabel(text)) refuse(found, path, `must be ${labelWords}, got ${shown(text)}`);
}

export function checkDnsSubdomain(found: Found, path: string, text: string): void {
	if (!isDnsSubdomain(text)) refuse(found, path, `must be ${subdomainWords}, got ${shown(text)}`);
}

export function checkLabelKey(found: Found, path: string, key: string): void {
	if (!isQualifiedName(key)) refuse(found, path, `the key must be ${labelKeyWords}, got ${shown(key)}`);
}

export function checkLabelValue(found: Found, path: string, value: string): void {
	if (!isLabelValue(value)) refuse(found, path, `must be ${labelValueWords}, got ${shown(value)}`);
}
