import test from 'ava';
import {searchPathOf} from '../../cli/serving/node/local-node.js';

test('pods get the PATH of whoever starts the cluster, without what npm puts in front', t => {
	const npm =
		'/src/troupe/node_modules/.bin:/src/node_modules/.bin:/usr/lib/node_modules/npm/node_modules/@npmcli/run-script/lib/node-gyp-bin';
	t.is(searchPathOf(`${npm}:/usr/local/bin:/opt/node_modules/.bin/own:/bin`), '/usr/local/bin:/opt/node_modules/.bin/own:/bin');
	for (const nothing of [undefined, '', npm]) t.is(searchPathOf(nothing), undefined);
});
