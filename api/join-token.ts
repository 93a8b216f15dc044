// A token for a host that is to join: a secret, and the pin of the authority it may be shown to. One builder, one parser. Pure.

const prefix = 'troupe-join.';

/** `troupe-join.<secret>.<pin>`. */
export const formatJoinToken = (secret: string, pin: string): string => `${prefix}${secret}.${pin}`;

/** The pin: SHA-256 of the authority's certificate in DER, base64url. Undefined: the text is no join token. */
export const pinOfJoinToken = (text: string): string | undefined => /^troupe-join\.[A-Za-z0-9_-]{43}\.([A-Za-z0-9_-]{43})$/.exec(text)?.[1];
