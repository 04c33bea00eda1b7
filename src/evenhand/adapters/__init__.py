"""Evenhand inside other libraries' loops; each adapter needs its library, and nothing here imports one."""
