// A node of the older dialect says its address beside its metadata.

import {nodeIpAnnotation} from '../kinds/node.js';
import type {JsonObject} from '../object.js';
import {isIPv4, isIPv6} from '../rules/address.js';
import {shown} from '../shown.js';
import {withAnnotation, type Edits} from './rewrite.js';

/** The address of a node is found out by its agent; what the manifest says is kept where people can see it. */
export function editNode(document: JsonObject, edits: Edits): JsonObject {
	if (!Object.hasOwn(document, 'ip')) return document;
	const {ip, ...rest} = document;
	if (typeof ip !== 'string' || !(isIPv4(ip) || isIPv6(ip))) {
		edits.problems.push({path: 'ip', message: `must be an IP address, got ${shown(ip)}`, reason: 'FieldValueInvalid'});
		return document;
	}
	const edited = withAnnotation(rest, nodeIpAnnotation, ip, 'ip', edits);
	return edited === rest ? document : edited;
}
