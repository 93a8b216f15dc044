// Refuses a Node that is too old, in a form that every Node can parse and run. The launcher preloads it, `prepare.cjs` requires it.
'use strict';

var wanted = [20, 19];

function isOldNode(version) {
	var parts = version.split('.');
	var major = Number(parts[0]);
	return major < wanted[0] || (major === wanted[0] && Number(parts[1]) < wanted[1]);
}

if (isOldNode(process.versions.node)) {
	var found = 'error: troupe needs Node ' + wanted.join('.') + ' or newer, this is ' + process.versions.node;
	process.stderr.write(found + '; get a newer one from https://nodejs.org/en/download, or with `nvm install 22` or `npx n 22`\n');
	process.exit(1);
}

module.exports = {isOldNode: isOldNode};
