"""A browser of WebKitGTK that has only windows with a page, for `webkit.py`. It ends when its standard input ends.

WebKit's own MiniBrowser does not write the messages of the console in automation, and its toolbar is at least 447 pixels wide.
Each line of the standard input is a JSON object: the properties of GTK to set, or the file for a picture of the last window.
"""

import json
import os
import sys

import gi

gi.require_version("Gtk", "3.0")
gi.require_version("WebKit2", "4.1")
from gi.repository import Gdk, GLib, Gtk, WebKit2  # noqa: E402

STDIN = 0

data_directory = sys.argv[1]
manager = WebKit2.WebsiteDataManager(base_data_directory=data_directory, base_cache_directory=data_directory)
context = WebKit2.WebContext(website_data_manager=manager)
context.set_automation_allowed(True)
# There is no graphics card, and the driver of WebKit would emulate one.
without_card = WebKit2.HardwareAccelerationPolicy.NEVER
settings = WebKit2.Settings(enable_write_console_messages_to_stdout=True, hardware_acceleration_policy=without_card)


def open_window(_):
    """Opens a window with an empty page for the driver."""
    window = Gtk.Window(default_width=1280, default_height=800)
    view = WebKit2.WebView(web_context=context, settings=settings, is_controlled_by_automation=True)
    view.connect("close", lambda _: window.destroy())
    window.add(view)
    window.show_all()
    # There is no window manager that gives the window the keyboard.
    window.present()
    view.grab_focus()
    return view


def start_automation(_, session):
    info = WebKit2.ApplicationInfo()
    info.set_name("webkit")
    info.set_version(WebKit2.get_major_version(), WebKit2.get_minor_version(), WebKit2.get_micro_version())
    session.set_application_info(info)
    session.connect("create-web-view", open_window)


def draw(file):
    *_, window = [each.get_window() for each in Gtk.Window.list_toplevels() if each.get_visible()]
    picture = Gdk.pixbuf_get_from_window(window, 0, 0, window.get_width(), window.get_height())
    picture.savev(f"{file}.part", "png", [], [])
    os.rename(f"{file}.part", file)


def receive(*_):
    lines = os.read(STDIN, 4096).splitlines()
    if not lines:
        Gtk.main_quit()
    for line in lines:
        match json.loads(line):
            case {"picture": file}:
                draw(file)
            case properties:
                for name, value in properties.items():
                    Gtk.Settings.get_default().set_property(name, value)
    return True


context.connect("automation-started", start_automation)
GLib.unix_fd_add_full(GLib.PRIORITY_DEFAULT, STDIN, GLib.IOCondition.IN | GLib.IOCondition.HUP, receive)
Gtk.main()
