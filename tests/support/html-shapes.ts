/** Html as people, editors and mail programs write it: whatever is added to it has to be shown. */
export interface HtmlShape {
  readonly name: string;
  readonly html: string;
}

const HEAD = '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>News</title></head>';
const MSO = '<!--[if mso]><table role="presentation"><tr><td><![endif]-->';
const MSO_END = '<!--[if mso]></td></tr></table><![endif]-->';

const MJML = `<!doctype html><html xmlns="http://www.w3.org/1999/xhtml" xmlns:v="urn:schemas-microsoft-com:vml"><head><title></title><!--[if !mso]><!--><meta http-equiv="X-UA-Compatible" content="IE=edge"><!--<![endif]-->
<style type="text/css">#outlook a { padding:0; } p { display:block;margin:13px 0; }</style>
<!--[if mso]><noscript><xml><o:OfficeDocumentSettings><o:AllowPNG/></o:OfficeDocumentSettings></xml></noscript><![endif]-->
<!--[if lte mso 11]><style type="text/css">.mj-outlook-group-fix { width:100% !important; }</style><![endif]-->
<style type="text/css">@media only screen and (min-width:480px) { .mj-column-per-100 { width:100% !important; } }</style></head>
<body style="word-spacing:normal;background-color:#F4F4F4;"><div style="background-color:#F4F4F4;" lang="und">
<!--[if mso | IE]><table align="center" border="0" style="width:600px;" width="600"><tr><td style="line-height:0px;font-size:0px;"><![endif]-->
<div style="margin:0px auto;max-width:600px;"><table align="center" border="0" style="width:100%;"><tbody><tr><td style="direction:ltr;font-size:0px;padding:20px 0;"><div class="mj-column-per-100" style="font-size:0px;text-align:left;"><table width="100%"><tbody><tr><td style="font-size:0px;padding:10px 25px;"><div style="font-family:Ubuntu;font-size:13px;">Body text</div></td></tr></tbody></table></div></td></tr></tbody></table></div>
<!--[if mso | IE]></td></tr></table><![endif]--></div></body></html>`;

const BEE = `<!DOCTYPE html><html xmlns:v="urn:schemas-microsoft-com:vml" lang="en"><head><title></title><meta content="text/html; charset=utf-8" http-equiv="Content-Type"/><!--[if mso]><xml><w:WordDocument><w:DontUseAdvancedTypographyReadingMail/></w:WordDocument></xml><![endif]--><!--[if !mso]><!--><link href="https://fonts.example/a.css" rel="stylesheet" type="text/css"/><!--<![endif]--><style>* { box-sizing: border-box; } .desktop_hide, .desktop_hide table { mso-hide: all; display: none; max-height: 0px; overflow: hidden; } @media (max-width:700px) { .desktop_hide { display: table !important; } .mobile_hide { display: none; } }</style></head><body class="body" style="background-color: #FFFFFF; margin: 0; padding: 0;"><table border="0" cellpadding="0" class="nl-container" role="presentation" width="100%"><tbody><tr><td><table align="center" class="row" role="presentation"><tbody><tr><td class="column" width="100%"><div class="button" align="center"><!--[if mso]><v:roundrect href="https://a.example"><v:textbox><![endif]--><span class="button">Body text</span><!--[if mso]></v:textbox></v:roundrect><![endif]--></div></td></tr></tbody></table></td></tr></tbody></table><!-- End --></body></html>`;

const STRIPO = `<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd"><html xmlns="http://www.w3.org/1999/xhtml" xmlns:o="urn:schemas-microsoft-com:office:office"><head><meta charset="UTF-8"><title>New message</title><!--[if (mso 16)]><style type="text/css">a {text-decoration: none;}</style><![endif]--><!--[if gte mso 9]><style>sup { font-size: 100% !important; }</style><![endif]--><style type="text/css">.es-desktop-hidden { display:none; float:left; overflow:hidden; width:0; max-height:0; }</style></head><body style="width:100%;padding:0;Margin:0"><div dir="ltr" class="es-wrapper-color"><!--[if gte mso 9]><v:background xmlns:v="urn:schemas-microsoft-com:vml" fill="t"><v:fill type="tile" color="#f6f6f6"></v:fill></v:background><![endif]--><table class="es-wrapper" width="100%"><tr><td valign="top">Body text</td></tr></table></div></body></html>`;

const MAILCHIMP = `<!doctype html>
<html xmlns="http://www.w3.org/1999/xhtml"><head><!-- NAME: 1 COLUMN --><!--[if gte mso 15]><xml><o:OfficeDocumentSettings><o:PixelsPerInch>96</o:PixelsPerInch></o:OfficeDocumentSettings></xml><![endif]--><meta charset="UTF-8"><title>*|MC:SUBJECT|*</title><style type="text/css">p{margin:10px 0;} /* </head><body> */</style></head>
<body><!--*|IF:MC_PREVIEW_TEXT|*--><!--[if !gte mso 9]><!----><span class="mcnPreviewText" style="display:none; font-size:0px; line-height:0px; max-height:0px; max-width:0px; opacity:0; overflow:hidden; visibility:hidden; mso-hide:all;">Old preview</span><!--<![endif]--><!--*|END:IF|*--><center><table id="bodyTable" height="100%" width="100%"><tr><td id="bodyCell"><!--[if (gte mso 9)|(IE)]><table width="600"><tr><td><![endif]-->Body text<!--[if (gte mso 9)|(IE)]></td></tr></table><![endif]--></td></tr></table></center><script type="text/javascript">var a = "</body>";</script></body></html>`;

const WORD = `<html xmlns:o="urn:schemas-microsoft-com:office:office" xmlns:w="urn:schemas-microsoft-com:office:word"><head><meta http-equiv=Content-Type content="text/html; charset=windows-1252"><meta name=Generator content="Microsoft Word 15"><!--[if !mso]><style>v\\:* {behavior:url(#default#VML);}</style><![endif]--><style><!-- /* Font Definitions */ p.MsoNormal {margin:0cm;} --></style><!--[if gte mso 9]><xml><o:shapedefaults v:ext="edit"/></xml><![endif]--></head><body lang=EN-US link=blue vlink=purple><div class=WordSection1><p class=MsoNormal><span lang=EN-US>Body text<o:p></o:p></span></p><p class=MsoListParagraph><![if !supportLists]><span style='mso-list:Ignore'>-</span><![endif]>Item<o:p>&nbsp;</o:p></p></div></body></html>`;

const BY_NAME: Readonly<Record<string, string>> = {
  'a plain fragment': '<p>Body text</p>',
  'text alone': 'Body text',
  'text with an ampersand at its end': 'Body text &',
  'text with a bracket at its end': 'Body text <',
  'nothing but a comment': '<!-- nothing -->',
  'a usual document': `${HEAD}<body><p>Body text</p></body></html>`,
  'tags in capitals': '<HTML><HEAD><TITLE>x</TITLE></HEAD><BODY BGCOLOR=white><P>Body text</P></BODY></HTML>',
  'a body for Outlook alone': `${HEAD}<!--[if mso]><body class="mso"><![endif]--><!--[if !mso]><!--><body class="x"><!--<![endif]--><p>Body text</p></body></html>`,
  'a body for Outlook in a comment': `${HEAD}<!--[if mso]><body class="mso"><![endif]--><body><p>Body text</p></body></html>`,
  'a body in a comment': `${HEAD}<!-- <body> --><body><p>Body text</p><!-- </body> --></body></html>`,
  'an end of the body in a comment after the end': `${HEAD}<body><p>Body text</p></body></html><!-- </body> -->`,
  'an end of the body in a comment, and no other': '<body><p>Body text</p><!-- </body></html> -->',
  'a body in a style sheet': `<head><style>/* <body> </body> */ a{content:"</body>"}</style></head><body><p>Body text</p></body>`,
  'a body in a script': `<head><script>document.write("<body>")</script></head><body><p>Body text</p><script>"</body>"</script></body>`,
  'a script in a comment in a script': `<body><p>Body text</p><script><!-- <script></script> </body> --></script></body>`,
  'a body in a title': `<head><title><body></title></head><body><p>Body text</p></body>`,
  'a body in a text field': `<body><p>Body text</p><textarea></body><body></textarea></body>`,
  'a body in a template': `<template><body></body></template><body><p>Body text</p><template></body></template></body>`,
  'a body in an attribute': `<body data-x="<body>" title='a > b'><p title="</body>">Body text</p></body>`,
  'a sign of more in an attribute of the body': `<body title="1 > 0" class='x>y'><p>Body text</p></body>`,
  'a sign of more without quotes': `<body style=color:red data-a=b><p>Body text</p></body>`,
  'a body over several lines': `<body\n  bgcolor="#fff"\n>\n<p>Body text</p>\n</body\n>`,
  'an end tag with space': `<body ><p>Body text</p ></body ></html >`,
  'no end of the body': `${HEAD}<body><p>Body text</p>`,
  'no body, but its end': '<p>Body text</p></body></html>',
  'no head and no body': '<html><p>Body text</p></html>',
  'a style sheet and a fragment': '<style>p{color:red}</style><p>Body text</p>',
  'a style sheet behind the text': '<p>Body text</p><style>p{color:red}</style>',
  'text after the end': `${HEAD}<body><p>Body text</p></body></html><p>From a gateway</p>`,
  'two bodies': `${HEAD}<body><p>Body text</p></body><body class="b"><p>More</p></body></html>`,
  'two documents': '<html><body><p>Body text</p></body></html><html><body><p>More</p></body></html>',
  'a body after the text': '<p>Body text</p><body><p>More</p></body>',
  'a name that begins like body':
    '<bodyguard>x</bodyguard><body><p>Body text</p></body><bodyguard>y</bodyguard>',
  'nested tables': `<body><table><tr><td><table><tr><td>Body text</td></tr></table></td></tr></table></body>`,
  'tables that do not end': '<body><table><tr><td><table><tr><td>Body text',
  'text within a table': '<table>Loose text<tr><td>Cell</td></tr>',
  'rows without a table': '<tr><td>Body text</td></tr>',
  'paragraphs that do not end': '<body><p>Body text<p>More<div>and<ul><li>more',
  'emphasis that does not end': '<body><b><i>Body text<p>More',
  'a link that does not end': '<body><p>Body text <a href="https://a.example">link',
  'a comment that does not end': '<body><p>Body text</p><!-- not closed </body></html>',
  'a comment that ends with an exclamation mark': '<body><p>Body text</p><!-- x --!></body>',
  'an empty comment': '<body><!--><p>Body text</p><!---></body>',
  'a tag that does not end': '<body><p>Body text</p><a href="https://a.example',
  'an end tag that does not end': '<body><p>Body text</p',
  'a style sheet that does not end': '<body><p>Body text</p><style>.a{} </body></html>',
  'a script that does not end': '<body><p>Body text</p><script>var a; </body></html>',
  'a title that does not end': '<body><p>Body text</p><title>x </body></html>',
  'a text field that does not end': '<body><p>Body text</p><textarea>x </body></html>',
  'a template that does not end': '<body><p>Body text</p><template>x </body></html>',
  'a choice that does not end': '<body><p>Body text</p><select><option>x </body></html>',
  'a drawing that does not end': '<body><p>Body text</p><svg><circle r="1"> </body></html>',
  'a drawing': '<body><svg><title><body></title><style>a{}</style></svg><p>Body text</p></body>',
  'a formula': '<body><math><mtext>x</mtext></math><p>Body text</p></body>',
  'a frame': '<body><p>Body text</p><iframe></body></iframe></body>',
  'no script':
    '<head><noscript><style>p{}</style></noscript></head><body><p>Body text</p><noscript></body></noscript></body>',
  'a picture without script': '<noscript><img src="x.png"></noscript><body><p>Body text</p></body>',
  'a hidden part that does not end': '<body><p>Body text</p><div style="display:none">secret</body>',
  'a hidden part with the end of another':
    '<body><p>Body text</p><div style="display:none"><table><tr><td>x</div></body>',
  'a hidden part that goes on': '<body><p>Body text</p><font style="display:none"><p>old</p></body>',
  'a hidden preview line': '<body><div style="display:none">Old preview</div><p>Body text</p></body>',
  'a part hidden by an attribute': '<body><p>Body text</p><div hidden>x</body>',
  'a part hidden by its class':
    '<style>.gone{display:none}</style><body><p>Body text</p><div class="gone">x</body>',
  'a part that is closed': '<body><p>Body text</p><details><summary>s</summary>x</body>',
  'a part for all but Outlook at the end': `<body><p>Body text</p><!--[if !mso]><!--><p>others</p></body><!--<![endif]-->`,
  'a part for all but Outlook': `<body><!--[if !mso]><!--><p>others</p><!--<![endif]--><p>Body text</p></body>`,
  'a part that browsers see and Outlook does not': `<body><![if !mso]><p>others</p><![endif]><p>Body text</p></body>`,
  'tables of Outlook': `<body>${MSO}<div>Body text</div>${MSO_END}</body>`,
  'a doctype and a declaration': '<?xml version="1.0"?><!DOCTYPE html><body><p>Body text</p></body>',
  'a doctype behind a comment': '<!-- x --><!DOCTYPE html><body><p>Body text</p></body>',
  'a section of XML': '<body><![CDATA[ x ]]><p>Body text</p></body>',
  'a part of another namespace': '<body><o:p>Body text</o:p></body>',
  'İ and other letters that grow': '<body title="İİİ">İYİ Body text</BODY>',
  'a text that begins with a character reference': '&nbsp;Body text',
  'a form in a form': '<body><form href=x><form href=y><p>Body text</p></form></form></body>',
  'an ended line break': '<body>Body text</br></p></body>',
  'a set of frames': '<p>Body text</p><frameset><frame></frameset>',
  'a head that does not end': '<head><title>x</title><p>Body text</p></body>',
  'stray end tags': '</div></td></body><p>Body text</p></center></span>',
  'quotes that do not match': `<body><p title='it"s'>Body text</p><p title="it's">x</p></body>`,
  'a tag within a tag': '<body><p <b>Body text</p></body>',
  MJML,
  BEE,
  Stripo: STRIPO,
  Mailchimp: MAILCHIMP,
  Word: WORD,
};

const PROLOGUES = [
  '',
  '<!doctype html>',
  '<!-- made by <body> -->',
  '<?xml version="1.0"?>',
  '<!--[if mso]><xml></xml><![endif]-->',
];
const HEADS = [
  '',
  '<head></head>',
  '<head><title>a > b</title></head>',
  '<style>.a>.b{color:red}</style>',
  '<head><style>/* </head><body> */</style><script>"<body>"</script></head>',
  '<HEAD><META CHARSET=utf-8><BASE HREF="https://b.example/"></HEAD>',
  '<head><!--[if mso]><body><![endif]--></head>',
];
const BODIES = [
  '',
  '<body>',
  '<BODY CLASS=x>',
  '<body title="<p>" style=\'a>b\'>',
  '<!--[if mso]><body><![endif]--><body>',
  '<!-- </body> --><body>',
];
const CONTENTS = [
  'Body text',
  '<p>Body text</p>',
  '<div><p>Body text<p>more</div>',
  '<table><tr><td>Body text</td></tr></table>',
  '<p>Body text</p><!-- </body> -->',
  '<p title="</body>">Body text</p>',
  '<center><b>Body text</center>',
  '<p>Body text</p><div style="visibility:hidden">x',
  '<p>Body text</p><textarea></body>',
  '<svg></svg><p>Body text</p><style></body></style>',
];
const ENDINGS = [
  '',
  '</body>',
  '</BODY ></HTML>',
  '</body><!-- </body> -->',
  '</html>',
  '</body></html>\n\n',
  '<!-- </body>',
  '<a href="',
];

/** A generator of numbers by a seed (mulberry32). */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

/** The shapes that have names, and as many that are put together by chance, the same each time. */
export function htmlShapes(generated: number, seed = 1): readonly HtmlShape[] {
  const below = numbers(seed);
  const one = (list: readonly string[]): string => list[below(list.length)] ?? '';
  const named = Object.entries(BY_NAME).map(([name, html]) => ({ name, html }));
  const made = Array.from({ length: generated }, () => {
    const html = [one(PROLOGUES), one(HEADS), one(BODIES), one(CONTENTS), one(ENDINGS)].join('');
    return { name: html, html };
  });
  return [...named, ...made];
}
