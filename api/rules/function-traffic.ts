// The rules for the versions of a function that share its calls.

import {shareOf, type Share} from '../function-traffic.js';
import {limits} from '../limits.js';
import type {Json} from '../object.js';
import {shown} from '../shown.js';
import {isToken} from './names.js';
import {itemsOf, membersOf, refuse, type Found} from './report.js';

export function checkTraffic(found: Found, path: string, value: Json | undefined): void {
	const shares = itemsOf(value).map(membersOf);
	if (shares.length === 0) return;
	if (shares.length > limits.functionShares) refuse(found, path, `must be at most ${limits.functionShares}, got ${shares.length}`);
	shares.slice(0, limits.functionShares).forEach(({match}, at) => {
		const header = membersOf(membersOf(match)['header']);
		const {name, exact, prefix} = header;
		if (typeof name === 'string' && !isToken(name))
			refuse(
				found,
				`${path}[${at}].match.header.name`,
				`must be the name of a header: letters, digits, "-" and "_" say, got ${shown(name)}`,
			);
		if (exact !== undefined && prefix !== undefined)
			refuse(found, `${path}[${at}].match.header`, 'must have one of exact and prefix, and not both');
	});
	if (shares.every(share => shareOf(share as Share) === 0))
		refuse(found, path, 'need a weight above 0 in at least one of them: it takes the calls that no match takes');
}
